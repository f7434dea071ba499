/** Texts for the editor's diffs, and texts of files as the editor has them. */

import { commands, type Disposable, TabInputTextDiff, type TextDocumentContentProvider, Uri, window, workspace } from "vscode";
import { applied, side } from "../unified";

/** The texts of diffs by a scheme of their own. */
export class Texts implements TextDocumentContentProvider, Disposable {
  private readonly texts = new Map<string, string>();
  private readonly registered: Disposable;
  private shown = 0;

  /** After a reload of the window nobody has the texts of before any more. */
  constructor(private readonly scheme: string) {
    this.registered = workspace.registerTextDocumentContentProvider(scheme, this);
    void this.close();
  }

  provideTextDocumentContent(uri: Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  /** Give both sides of a diff an address; never one of before, because the editor keeps documents that it has seen. */
  sides(path: string, before: string, after: string): [Uri, Uri] {
    this.shown += 1;
    const put = (name: string, text: string): Uri => {
      const uri = Uri.from({ scheme: this.scheme, path: path.startsWith("/") ? path : `/${path}`, query: `${this.shown}-${name}` });
      this.texts.set(uri.toString(), text);
      return uri;
    };
    return [put("before", before), put("after", after)];
  }

  /** Close the diff whose right side this is, or all. */
  async close(right?: Uri): Promise<void> {
    const tabs = window.tabGroups.all.flatMap((group) => group.tabs);
    const meant = (uri: Uri) => uri.scheme === this.scheme && (!right || uri.toString() === right.toString());
    await window.tabGroups.close(tabs.filter(({ input }) => rightSides(input).some(meant)), true);
    if (!right) this.texts.clear();
  }

  /** Whether the diff of this right side is in front of some group. */
  seen(right: Uri): boolean {
    return window.tabGroups.all.some(({ activeTab }) => rightSides(activeTab?.input).some((uri) => uri.toString() === right.toString()));
  }

  dispose(): void {
    this.registered.dispose();
    this.texts.clear();
  }
}

export interface Foreseen {
  path: string;
  /** Unified: from how the file is now to how it would be. */
  diff: string;
}

/** Shows what going back would do to files. */
export class Previews extends Texts {
  constructor() {
    super("sidecar-preview");
  }

  /** Open the diff from how files are to how they would be. */
  async open(title: string, cwd: string, files: Foreseen[]): Promise<void> {
    const pairs: [Uri, Uri, Uri][] = [];
    for (const file of files) {
      const real = Uri.joinPath(Uri.file(cwd), file.path);
      const now = await current(real);
      const then = applied(now, file.diff);
      const sides = then === undefined ? this.sides(file.path, side(file.diff, "-"), side(file.diff, "+")) : this.sides(file.path, now, then);
      pairs.push([real, ...sides]);
    }
    const [only] = pairs;
    if (only && pairs.length === 1) await commands.executeCommand("vscode.diff", only[1], only[2], `${files[0]?.path}: ${title}`);
    else await commands.executeCommand("vscode.changes", title, pairs);
  }
}

function rightSides(input: unknown): Uri[] {
  if (input instanceof TabInputTextDiff) return [input.modified];
  // The editor of several diffs has no public type yet.
  const parts = (input as { textDiffs?: TabInputTextDiff[] } | undefined)?.textDiffs;
  return (parts ?? []).map((part) => part.modified);
}

/** The text in the editor, else on disk. It is not opened: the daemon would take that for the user's. */
export async function current(uri: Uri): Promise<string> {
  const open = workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
  if (open) return open.getText();
  return workspace.fs.readFile(uri).then((bytes) => Buffer.from(bytes).toString(), () => "");
}
