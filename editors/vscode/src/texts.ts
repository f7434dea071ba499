/** Texts for the editor's diffs, and texts of files as the editor has them. */

import { type Disposable, TabInputTextDiff, type TextDocumentContentProvider, Uri, window, workspace } from "vscode";

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

  dispose(): void {
    this.registered.dispose();
    this.texts.clear();
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
