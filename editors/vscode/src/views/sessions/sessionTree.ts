/** The tree of sessions: those of this folder and of others, or those in whose texts words are found. */

import type { FoundSession, SessionInfo } from "sidecar-protocol";
import { CancellationTokenSource, commands, type Disposable, EventEmitter, type TreeDataProvider, type TreeItem, type TreeView, window } from "vscode";
import type { Daemon } from "../../daemon";
import type { Sessions } from "../../sessions";
import { grouped, many } from "../../wording";
import { visibleName } from "../visible";
import { line, type Node } from "./nodes";

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
  /** The folder as the daemon names it. */
  private here: string;
  private pages = 1;
  private search: Search | undefined;
  readonly onDidChangeTreeData = this.changes.event;

  constructor(private readonly daemon: Daemon, private readonly sessions: Sessions) {
    this.here = sessions.cwd;
    this.view = window.createTreeView(VIEW, { treeDataProvider: this });
    this.subscriptions = [
      this.changes,
      this.view,
      this.view.onDidChangeVisibility(() => this.look()),
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
        return this.search ? results(this.search) : this.own();
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
      this.changes.fire();
    }, PAUSE);
  }

  /** Look again at once, at what was found too: a session is gone, or has another name. */
  async renew(): Promise<void> {
    if (this.search) await this.find(this.search.query);
    else this.changes.fire();
  }

  async more(): Promise<void> {
    if (this.search) return this.read(this.search);
    this.pages += 1;
    this.changes.fire();
  }

  async find(query: string): Promise<void> {
    this.stop();
    this.search = { query, found: [] };
    await commands.executeCommand("setContext", "sidecar.searched", true);
    await commands.executeCommand(`${VIEW}.focus`);
    await this.read(this.search);
  }

  /** Show the list again. */
  async clear(): Promise<void> {
    this.stop();
    this.search = undefined;
    this.view.message = "";
    await commands.executeCommand("setContext", "sidecar.searched", false);
    this.changes.fire();
  }

  isHere(cwd: string): boolean {
    return cwd === this.here || cwd === this.sessions.cwd;
  }

  get query(): string {
    return this.search?.query ?? "";
  }

  /** Read page by page, until enough was found, all was read, or another search begins. */
  private async read(search: Search): Promise<void> {
    const reading = (search.reading = new CancellationTokenSource());
    const enough = search.found.length + FOUND;
    await window.withProgress({ location: { viewId: VIEW } }, async () => {
      do {
        this.tell(search);
        const { query, cursor } = search;
        const page = await this.daemon.request("session/search", { query, limit: enough - search.found.length, ...(cursor && { cursor }) }, reading.token);
        if (search !== this.search) return;
        search.found.push(...page.sessions);
        if (page.nextCursor === undefined) delete search.cursor;
        else search.cursor = page.nextCursor;
        if (page.sessions.length) this.changes.fire();
      } while (search.cursor && search.found.length < enough);
    });
    if (search !== this.search) return;
    delete search.reading;
    this.tell(search);
    this.changes.fire();
  }

  private tell({ query, found, reading }: Search): void {
    const number = reading ? `searching… ${found.length || ""}` : found.length ? many(found.length, "session") : "in no session";
    this.view.message = `“${visibleName(query)}”: ${number.trim()}`;
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
    this.here = found[0]?.cwd ?? this.here;
    const own = found.map((info): Node => ({ kind: "session", info }));
    return [...own, ...(cursor ? [{ kind: "more", label: "Older sessions" } as const] : []), { kind: "folders" }];
  }

  private async others(): Promise<Node[]> {
    const { sessions } = await this.daemon.request("session/list", { limit: OTHERS });
    const elsewhere = sessions.filter(({ cwd }) => cwd !== this.here);
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
  return [...lines, ...(cursor && !reading ? [{ kind: "more", label: "Search older sessions" } as const] : [])];
}
