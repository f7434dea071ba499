/** The tree of sessions: those of this folder and of others, or those in whose texts words are found. */

import type { FoundSession, SessionInfo } from "sidecar-protocol";
import { type CancellationToken, CancellationTokenSource, commands, type Disposable, EventEmitter, l10n, type TreeDataProvider, type TreeItem, type TreeView, window } from "vscode";
import type { Daemon } from "../../daemon";
import type { Sessions } from "../../sessions";
import { grouped, many } from "../../wording";
import { visibleName } from "../visible";
import { line, type Node, SESSIONS } from "./nodes";

const VIEW = "sidecar.sessions";
/** Sessions that are listed at once, of all folders, and found before somebody asks for more. */
const PAGE = 50;
const OTHERS = 500;
const FOUND = 30;
/** Milliseconds in which changes become one look. */
const PAUSE = 300;

interface Search {
  query: string;
  found: FoundSession[];
  /** Where to go on; absent when all were read. */
  cursor?: string;
  /** Of the page that is read now. */
  reading?: CancellationTokenSource;
}

export class SessionTree implements TreeDataProvider<Node>, Disposable {
  private readonly changes = new EventEmitter<void>();
  private readonly view: TreeView<Node>;
  private readonly subscriptions: Disposable[];
  private timer: NodeJS.Timeout | undefined;
  /** The folder as the daemon names it, without links; its sessions tell. */
  private named: string | undefined;
  private pages = 1;
  /** The list as it was last read. */
  private listed: Node[] | undefined;
  /** Its lines, as the tree has them, and whether others are seen below. */
  private drawn = "";
  private unfolded = false;
  private search: Search | undefined;
  readonly onDidChangeTreeData = this.changes.event;

  constructor(private readonly daemon: Daemon, private readonly sessions: Sessions) {
    this.view = window.createTreeView(VIEW, { treeDataProvider: this });
    this.subscriptions = [
      this.changes,
      this.view,
      this.view.onDidChangeVisibility(() => this.look()),
      this.view.onDidExpandElement(({ element }) => element.kind === "folders" && (this.unfolded = true)),
      this.view.onDidCollapseElement(({ element }) => element.kind === "folders" && (this.unfolded = false)),
      sessions.onReady(() => this.look()),
      daemon.onState(() => this.look()),
      daemon.onUpdate(({ update }) => ["session_info_update", "turn_ended"].includes(update.sessionUpdate) && this.look()),
      // Other windows change sessions too.
      window.onDidChangeWindowState(({ focused }) => focused && this.look()),
    ];
  }

  getTreeItem(node: Node): TreeItem {
    return line(node, this.sessions.current, this.here);
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (this.daemon.state !== "ready") return [];
    switch (node?.kind) {
      case undefined:
        return this.search ? results(this.search) : (this.listed ?? this.own());
      case "session": {
        const hits = node.found?.hits.filter(({ speaker }) => speaker !== "title") ?? [];
        return hits.map((hit) => ({ kind: "hit", info: node.info, hit }));
      }
      case "folders":
        return this.others();
      case "folder":
        return node.sessions.map((info) => ({ kind: "session", info }));
      default:
        return [];
    }
  }

  /** Look again, soon: changes come in swarms. What was found is drawn anew, not looked for. */
  look(): void {
    if (!this.view.visible) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.change();
    }, PAUSE);
  }

  /** Look again at once, at what was found too: a session is gone, or has another name. */
  async renew(): Promise<void> {
    if (this.search) await this.find(this.search.query);
    else await this.change();
  }

  /** The list is read before the tree is told, and only of what is new: until lines come, a menu that is open names none. */
  private async change(): Promise<void> {
    this.listed = this.search || this.daemon.state !== "ready" ? undefined : await this.own().catch(() => undefined);
    const drawn = this.listed ? JSON.stringify(this.listed.map((node) => this.getTreeItem(node))) : "";
    if (drawn && drawn === this.drawn && !this.unfolded) return;
    this.drawn = drawn;
    this.changes.fire();
  }

  async more(): Promise<void> {
    if (this.search) return this.search.reading ? undefined : this.read(this.search);
    this.pages += 1;
    await this.change();
  }

  async find(query: string): Promise<void> {
    this.stop();
    const search: Search = (this.search = { query, found: [] });
    this.drawn = "";
    if (this.named === undefined) await this.own();
    await commands.executeCommand("setContext", "sidecar.searched", true);
    await commands.executeCommand(`${VIEW}.focus`);
    if (search === this.search) await this.read(search);
  }

  /** Show the list again. */
  async clear(): Promise<void> {
    this.stop();
    this.search = undefined;
    this.view.message = "";
    await commands.executeCommand("setContext", "sidecar.searched", false);
    await this.change();
  }

  isHere(cwd: string): boolean {
    return cwd === this.here;
  }

  private get here(): string {
    return this.named ?? this.sessions.cwd;
  }

  get query(): string {
    return this.search?.query ?? "";
  }

  /** Read page by page, until enough was found, all was read, or another search begins. */
  private async read(search: Search): Promise<void> {
    const reading = (search.reading = new CancellationTokenSource());
    const enough = search.found.length + FOUND;
    try {
      await window.withProgress({ location: { viewId: VIEW } }, () => this.readPages(search, enough, reading.token));
    } catch (error) {
      this.ended(search, l10n.t("broken off"));
      throw error;
    }
    this.ended(search, search.found.length ? many(search.found.length, ...SESSIONS) : l10n.t("in no session"));
  }

  private async readPages(search: Search, enough: number, token: CancellationToken): Promise<void> {
    do {
      const { query, cursor, found } = search;
      this.tell(search, `${l10n.t("searching…")} ${found.length || ""}`.trim());
      const page = await this.daemon.request("session/search", { query, limit: enough - found.length, ...(cursor && { cursor }) }, token);
      if (search !== this.search) return;
      found.push(...page.sessions);
      if (page.nextCursor === undefined) delete search.cursor;
      else search.cursor = page.nextCursor;
      if (page.sessions.length) this.changes.fire();
    } while (search.cursor && search.found.length < enough);
  }

  private ended(search: Search, how: string): void {
    delete search.reading;
    if (search !== this.search) return;
    this.tell(search, how);
    this.changes.fire();
  }

  private tell({ query }: Search, how: string): void {
    this.view.message = l10n.t("“{0}”: {1}", visibleName(query), how);
  }

  private stop(): void {
    this.search?.reading?.cancel();
  }

  private async own(): Promise<Node[]> {
    const found: SessionInfo[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < this.pages && (page === 0 || cursor); page += 1) {
      const { sessions, nextCursor } = await this.daemon.request("session/list", { cwd: this.sessions.cwd, limit: PAGE, ...(cursor && { cursor }) });
      found.push(...sessions);
      cursor = nextCursor;
    }
    this.named = found[0]?.cwd ?? this.named;
    const own = found.map((info): Node => ({ kind: "session", info }));
    return [...own, ...(cursor ? [{ kind: "more", label: l10n.t("Older sessions") } as const] : []), { kind: "folders" }];
  }

  private async others(): Promise<Node[]> {
    const { sessions } = await this.daemon.request("session/list", { limit: OTHERS });
    const elsewhere = sessions.filter(({ cwd }) => !this.isHere(cwd));
    return grouped(elsewhere, ({ cwd }) => cwd).map(([cwd, inside]) => ({ kind: "folder", cwd, sessions: inside }));
  }

  dispose(): void {
    this.stop();
    clearTimeout(this.timer);
    for (const one of this.subscriptions) one.dispose();
  }
}

function results({ query, found, cursor, reading }: Search): Node[] {
  const lines = found.map(({ session, hits, more }): Node => ({ kind: "session", info: session, found: { query, hits, more } }));
  return [...lines, ...(cursor && !reading ? [{ kind: "more", label: l10n.t("Search older sessions") } as const] : [])];
}
