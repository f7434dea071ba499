/** Lines of the tree of sessions. */

import type { SearchHit, SessionInfo } from "sidecar-protocol";
import { basename } from "node:path";
import { l10n, ThemeColor, ThemeIcon, TreeItem, TreeItemCollapsibleState, type TreeItemLabel } from "vscode";
import { LOCALE, many, money, plainTitle, TURNS } from "../../wording";
import { visibleName } from "../visible";

/** What was found in a session, and by which words. */
export interface Found {
  query: string;
  hits: SearchHit[];
  more: boolean;
}

export type Node =
  | { kind: "session"; info: SessionInfo; found?: Found }
  | { kind: "hit"; info: SessionInfo; hit: SearchHit }
  /** All folders but this. */
  | { kind: "folders" }
  | { kind: "folder"; cwd: string; sessions: SessionInfo[] }
  | { kind: "more"; label: string };

/** Both forms of what is counted. */
export const SESSIONS = [l10n.t("{0} session"), l10n.t("{0} sessions")] as const;
/** Letters of a title, behind which age and cost have room in a narrow view. */
const TITLE = 26;
/** Letters before a match, which is to be in sight in a narrow view. */
const BEFORE = 12;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Who spoke, by picture and colour. */
const ICONS: Record<string, [string, string]> = { user: ["account", "charts.blue"], agent: ["sparkle", "charts.purple"], thinking: ["lightbulb", "charts.yellow"], tool: ["tools", "charts.orange"], file: ["file", "charts.green"] };
const SAID: Record<string, string> = { user: l10n.t("you"), agent: l10n.t("answer"), thinking: l10n.t("thinking"), tool: l10n.t("tool call"), file: l10n.t("attached file") };

/** `open`: the session of this window. `here`: the folder that need not be named. */
export function line(node: Node, open: string | undefined, here: string): TreeItem {
  switch (node.kind) {
    case "session":
      return sessionLine(node.info, node.found, open, here);
    case "hit":
      return hitLine(node);
    case "folders": {
      const item = new TreeItem(l10n.t("Other folders"), TreeItemCollapsibleState.Collapsed);
      return Object.assign(item, { id: "folders", iconPath: new ThemeIcon("root-folder") });
    }
    case "folder": {
      const item = new TreeItem(folderName(node.cwd), TreeItemCollapsibleState.Collapsed);
      const description = `${many(node.sessions.length, ...SESSIONS)} · ${visibleName(node.cwd)}`;
      return Object.assign(item, { id: `folder ${node.cwd}`, description, tooltip: visibleName(node.cwd), iconPath: ThemeIcon.Folder });
    }
    case "more": {
      const item = new TreeItem(node.label);
      return Object.assign(item, { iconPath: new ThemeIcon("ellipsis"), command: { command: "sidecar.moreSessions", title: node.label } });
    }
  }
}

function sessionLine(info: SessionInfo, found: Found | undefined, open: string | undefined, here: string): TreeItem {
  const title = plainTitle(visibleName(info.title || l10n.t("(empty)")));
  const isOpen = info.sessionId === open;
  const hits = found?.hits.some(({ speaker }) => speaker !== "title");
  const item = new TreeItem(marked(short(title), found?.hits.find(({ speaker }) => speaker === "title")), hits ? TreeItemCollapsibleState.Expanded : TreeItemCollapsibleState.None);
  const figures = [ago(info.updatedAt), ...(Number(info.cost) ? [money(info.cost)] : [])];
  const folder = info.cwd === here ? [] : [folderName(info.cwd)];
  const told = [many(info.turns, ...TURNS), new Date(info.updatedAt).toLocaleString(LOCALE), l10n.t("cost {0}", money(info.cost)), ...(isOpen ? [l10n.t("open here")] : [])];
  return Object.assign(item, {
    // Of another search, for what is unfolded is kept by it.
    id: found ? `${info.sessionId} ${found.query}` : info.sessionId,
    description: [...figures, ...folder].join(" · "),
    tooltip: [title, visibleName(info.cwd), told.join(", "), info.sessionId].join("\n"),
    accessibilityInformation: { label: [title, ...told, ...folder].join(", ") },
    iconPath: isOpen ? new ThemeIcon("comment-discussion", new ThemeColor("charts.blue")) : new ThemeIcon(info.parent === undefined ? "comment" : "git-branch"),
    contextValue: "session",
    command: { command: "sidecar.openListed", title: l10n.t("Open"), arguments: [{ kind: "session", info }] },
  });
}

function folderName(cwd: string): string {
  return visibleName(basename(cwd) || cwd);
}

function hitLine({ info, hit }: { info: SessionInfo; hit: SearchHit }): TreeItem {
  const text = hit.before + hit.match + hit.after;
  const letters = [...hit.before];
  const before = letters.length > BEFORE ? `…${letters.slice(-BEFORE).join("")}` : hit.before;
  const item = new TreeItem({ label: before + hit.match + hit.after, highlights: [[before.length, before.length + hit.match.length]] });
  const said = SAID[hit.speaker] ?? hit.speaker;
  const [picture, colour] = ICONS[hit.speaker] ?? ["comment", "icon.foreground"];
  return Object.assign(item, {
    id: `${info.sessionId} ${hit.partId}`,
    tooltip: `${said}: ${text}`,
    accessibilityInformation: { label: `${said}: ${text}` },
    description: said,
    iconPath: new ThemeIcon(picture, new ThemeColor(colour)),
    contextValue: "hit",
    command: { command: "sidecar.openListed", title: l10n.t("Open"), arguments: [{ kind: "hit", info, hit }] },
  });
}

/** A title with what was found in it. */
function marked(title: string, hit: SearchHit | undefined): TreeItemLabel {
  const at = hit ? title.indexOf(hit.match) : -1;
  return { label: title, ...(hit && at >= 0 && { highlights: [[at, at + hit.match.length]] }) };
}

function short(title: string): string {
  const letters = [...title];
  return letters.length > TITLE ? `${letters.slice(0, TITLE - 1).join("").trimEnd()}…` : title;
}

/** How long ago, in one unit; of more than a month ago, the day. */
function ago(iso: string, now = Date.now()): string {
  const passed = now - Date.parse(iso);
  if (passed < MINUTE) return l10n.t("now");
  if (passed < HOUR) return l10n.t("{0} min", Math.floor(passed / MINUTE));
  if (passed < DAY) return l10n.t("{0} h", Math.floor(passed / HOUR));
  return passed < 31 * DAY ? many(Math.floor(passed / DAY), l10n.t("{0} day"), l10n.t("{0} days")) : new Date(iso).toLocaleDateString(LOCALE);
}
