/** Shows what going back would do to files, in the editor's own diff. */

import { commands, type Disposable, TabInputTextDiff, type TextDocumentContentProvider, Uri, window, workspace } from "vscode";
import { applied, side } from "./unified";

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

  constructor() {
    void closeDiffs(SCHEME);
  }

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
    await closeDiffs(SCHEME);
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

/** Close the diffs whose texts are of a scheme; after a reload of the window nobody has those texts any more. */
export async function closeDiffs(scheme: string): Promise<void> {
  const tabs = window.tabGroups.all.flatMap((group) => group.tabs);
  await window.tabGroups.close(tabs.filter(({ input }) => shows(input, scheme)), true);
}

function shows(input: unknown, scheme: string): boolean {
  if (input instanceof TabInputTextDiff) return input.modified.scheme === scheme;
  // The editor of several diffs has no public type yet.
  const parts = (input as { textDiffs?: TabInputTextDiff[] } | undefined)?.textDiffs;
  return parts?.some((part) => part.modified.scheme === scheme) ?? false;
}

/** The text in the editor, else on disk. It is not opened: the daemon would take that for the user's. */
export async function current(uri: Uri): Promise<string> {
  const open = workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
  if (open) return open.getText();
  return workspace.fs.readFile(uri).then((bytes) => Buffer.from(bytes).toString(), () => "");
}
