/** Shows what going back would do to files, in the editor's own diff. */

import type { FileDiff } from "sidecar-protocol";
import { commands, type Disposable, TabInputTextDiff, type TextDocumentContentProvider, Uri, window, workspace } from "vscode";

const SCHEME = "sidecar-preview";

export class Previews implements TextDocumentContentProvider, Disposable {
  private readonly texts = new Map<string, string>();
  private readonly registered = workspace.registerTextDocumentContentProvider(SCHEME, this);
  private shown = 0;

  provideTextDocumentContent(uri: Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  /** Open the diff from how files are now to how they were; `files` are diffs the other way round. */
  async open(title: string, cwd: string, files: FileDiff[]): Promise<void> {
    this.shown += 1;
    const pairs = await Promise.all(
      files.map(async (file): Promise<[Uri, Uri, Uri]> => {
        const real = Uri.joinPath(Uri.file(cwd), file.path);
        const now = file.change === "deleted" ? "" : await current(real);
        const was = reversed(now, file.diff);
        const left = was === undefined ? this.put(file, "now", side(file.diff, "+")) : file.change === "deleted" ? this.put(file, "now", "") : real;
        return [real, left, this.put(file, "was", was ?? side(file.diff, "-"))];
      }),
    );
    const [only] = pairs;
    if (only && pairs.length === 1) await commands.executeCommand("vscode.diff", only[1], only[2], `${files[0]?.path}: ${title}`, { preview: true });
    else await commands.executeCommand("vscode.changes", title, pairs);
  }

  /** Close what `open` opened. */
  async close(): Promise<void> {
    const tabs = window.tabGroups.all.flatMap((group) => group.tabs);
    await window.tabGroups.close(tabs.filter(({ input }) => ours(input)), true);
    this.texts.clear();
  }

  dispose(): void {
    this.registered.dispose();
    this.texts.clear();
  }

  private put(file: FileDiff, name: string, text: string): Uri {
    // A number of its own, because the editor keeps documents that it has seen.
    const uri = Uri.from({ scheme: SCHEME, path: `/${file.path}`, query: `${this.shown}-${name}` });
    this.texts.set(uri.toString(), text);
    return uri;
  }
}

function ours(input: unknown): boolean {
  if (input instanceof TabInputTextDiff) return input.modified.scheme === SCHEME;
  const parts = (input as { textDiffs?: TabInputTextDiff[] } | undefined)?.textDiffs;
  return parts?.some((part) => part.modified.scheme === SCHEME) ?? false;
}

async function current(uri: Uri): Promise<string> {
  return workspace.openTextDocument(uri).then((document) => document.getText(), () => "");
}

/** Take a unified diff out of a text; undefined when the text is not what the diff led to. */
export function reversed(text: string, diff: string): string | undefined {
  const lines = text.split("\n");
  const out: string[] = [];
  let at = 0;
  for (const hunk of diff.split(/^(?=@@ )/m).filter((piece) => piece.startsWith("@@ "))) {
    const [head = "", ...body] = hunk.replace(/\n$/, "").split("\n");
    const [, start, length] = /\+(\d+)(?:,(\d+))?/.exec(head) ?? [];
    const first = length === "0" ? Number(start) : Number(start) - 1;
    out.push(...lines.slice(at, first));
    at = first;
    for (const line of body) {
      if (line.startsWith("\\")) continue;
      if (!line.startsWith("-") && lines[at++] !== line.slice(1)) return undefined;
      if (!line.startsWith("+")) out.push(line.slice(1));
    }
  }
  const rest = lines.slice(at);
  // A text that ends with a line break has an empty last line; what was empty before has none.
  return [...out, ...(rest.length || !out.length ? rest : [""])].join("\n");
}

/** What a diff says of one side, where the whole text is not to be had. */
function side(diff: string, sign: "+" | "-"): string {
  const lines = diff.split("\n").filter((line) => !/^(\+\+\+|---|@@|\\)/.test(line) && (line.startsWith(sign) || line.startsWith(" ")));
  return lines.map((line) => line.slice(1)).join("\n");
}
