/** Shows what going back would do to files, in the editor's own diff. */

import { commands, type Disposable, TabInputTextDiff, type TextDocumentContentProvider, Uri, window, workspace } from "vscode";

const SCHEME = "sidecar-preview";

export interface Foreseen {
  path: string;
  /** Unified: from how the file is now to how it would be. */
  diff: string;
}

export class Previews implements TextDocumentContentProvider, Disposable {
  private readonly texts = new Map<string, string>();
  private readonly registered = workspace.registerTextDocumentContentProvider(SCHEME, this);
  private shown = 0;

  provideTextDocumentContent(uri: Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  /** Open the diff from how files are to how they would be. */
  async open(title: string, cwd: string, files: Foreseen[]): Promise<void> {
    // A number of its own, because the editor keeps documents that it has seen.
    this.shown += 1;
    const pairs: [Uri, Uri, Uri][] = [];
    for (const file of files) {
      const real = Uri.joinPath(Uri.file(cwd), file.path);
      const now = await current(real);
      const then = applied(now, file.diff);
      const texts = then === undefined ? [side(file.diff, "-"), side(file.diff, "+")] : [now, then];
      const [left, right] = texts.map((text, index) => this.put(file.path, index ? "then" : "now", text));
      if (left && right) pairs.push([real, left, right]);
    }
    const [only] = pairs;
    if (only && pairs.length === 1) await commands.executeCommand("vscode.diff", only[1], only[2], `${files[0]?.path}: ${title}`);
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
  }

  private put(path: string, name: string, text: string): Uri {
    const uri = Uri.from({ scheme: SCHEME, path: `/${path}`, query: `${this.shown}-${name}` });
    this.texts.set(uri.toString(), text);
    return uri;
  }
}

function ours(input: unknown): boolean {
  if (input instanceof TabInputTextDiff) return input.modified.scheme === SCHEME;
  // The editor of several diffs has no public type yet.
  const parts = (input as { textDiffs?: TabInputTextDiff[] } | undefined)?.textDiffs;
  return parts?.some((part) => part.modified.scheme === SCHEME) ?? false;
}

/** The text in the editor, else on disk. It is not opened: the daemon would take that for the user's. */
async function current(uri: Uri): Promise<string> {
  const open = workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
  if (open) return open.getText();
  return workspace.fs.readFile(uri).then((bytes) => Buffer.from(bytes).toString(), () => "");
}

/** Apply a unified diff; undefined when the text is not the one that it was made for. */
function applied(text: string, diff: string): string | undefined {
  const lines = text.split(/(?<=\n)/);
  const out: string[] = [];
  let at = 0;
  for (const [head = "", ...body] of hunks(diff)) {
    const [, start, length] = /^@@ -(\d+)(?:,(\d+))?/.exec(head) ?? [];
    const first = length === "0" ? Number(start) : Number(start) - 1;
    out.push(...lines.slice(at, first));
    at = first;
    for (const line of body) {
      if (!line.startsWith("+") && lines[at++] !== line.slice(1)) return undefined;
      if (!line.startsWith("-")) out.push(line.slice(1));
    }
  }
  return [...out, ...lines.slice(at)].join("");
}

/** A diff's hunks, as lines with their line ends; a last line without one has none here either. */
function hunks(diff: string): string[][] {
  const found: string[][] = [];
  for (const line of diff.split(/(?<=\n)/)) {
    const hunk = found.at(-1);
    if (line.startsWith("@@ ")) found.push([line]);
    else if (hunk && line.startsWith("\\")) hunk.push((hunk.pop() ?? "").replace(/\r?\n$/, ""));
    else hunk?.push(line);
  }
  return found;
}

/** What a diff says of one side, where the whole text is not to be had. */
function side(diff: string, sign: "+" | "-"): string {
  const lines = hunks(diff).flatMap(([, ...body]) => body.filter((line) => line.startsWith(sign) || line.startsWith(" ")));
  return lines.length ? lines.map((line) => line.slice(1)).join("") : diff;
}
