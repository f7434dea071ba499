/** Shows what going back would do to files, in the editor's own diff. */

import { commands, Uri } from "vscode";
import { current, Texts } from "./texts";
import { applied, side } from "./unified";

export interface Foreseen {
  path: string;
  /** Unified: from how the file is now to how it would be. */
  diff: string;
}

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
