/** Opens what a call or a turn changed in the editor's diff. Whole texts are worked out from the daemon's diffs. */

import { commands, l10n, Uri } from "vscode";
import type { Daemon } from "../daemon";
import type { Sessions } from "../sessions";
import { current, Texts } from "./texts";
import { side, takenOut } from "../unified";
import type { Change } from "./messages";

export class Diffs extends Texts {
  constructor(
    private readonly daemon: Daemon,
    private readonly sessions: Sessions,
  ) {
    super("sidecar-change");
  }

  async open(change: Change): Promise<void> {
    const { path } = change;
    const diff = change.diff ?? (await this.between(path, change.from, change.to));
    if (!diff) throw new Error(l10n.t("There is no difference in {0}.", path));
    const after = await this.after(change, diff);
    const before = after === undefined ? undefined : takenOut(after, diff);
    const [left, right] = this.sides(path, before ?? side(diff, "-"), before === undefined ? side(diff, "+") : (after ?? ""));
    await commands.executeCommand("vscode.diff", left, right, l10n.t("{0} (Sidecar's change)", path), { preview: true });
  }

  /** Read a file as the diff left it: as it is, or as it was at a checkpoint since. */
  private async after({ path, to }: Change, diff: string): Promise<string | undefined> {
    const now = await current(Uri.joinPath(Uri.file(this.sessions.cwd), path));
    const found = [to, ...(await this.since(path))];
    for (const checkpoint of found) {
      const later = checkpoint === undefined ? "" : await this.between(path, checkpoint);
      const text = takenOut(now, later);
      if (text !== undefined && takenOut(text, diff) !== undefined) return text;
    }
    return undefined;
  }

  /** Now, and the checkpoints at which a file had changed, the newest first. */
  private async since(path: string): Promise<(string | undefined)[]> {
    const { checkpoints } = await this.daemon.request("checkpoint/list", { sessionId: this.sessions.id() });
    const changing = checkpoints.filter(({ files, left }) => !left && files.some((file) => file.path === path));
    return [undefined, ...changing.reverse().map(({ checkpointId }) => checkpointId)];
  }

  private async between(path: string, from?: string, to?: string): Promise<string> {
    if (from === undefined) return "";
    const { files } = await this.daemon.request("checkpoint/diff", { sessionId: this.sessions.id(), from, path, ...(to && { to }) });
    return files.find((file) => file.path === path)?.diff ?? "";
  }
}
