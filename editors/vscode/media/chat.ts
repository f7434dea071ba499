/** The chat's page: takes messages of the extension and shows them. */

import { l10n } from "vscode";
import type { Block, Command, Draft, FromChat, Kept, ToChat } from "../src/views/messages";
import { Composer } from "./composer";
import { button, el, fill } from "./dom";
import { host } from "./host";
import { icon } from "./icons";
import { BLOCK } from "./markdown";
import { Questions } from "./questions";
import { type Task, tasks } from "./toolcall";
import { Transcript } from "./transcript";

/** Texts that the arrow keys go back to, beside those of the session. */
const MOST_SENT = 50;
/** Letters of pictures that the extension keeps. */
const MOST_KEPT = 2_000_000;
/** Names of what was reviewed that are kept. */
const MOST_REVIEWED = 300;

const { send, kept, keep } = host<FromChat, Kept & { window: string }>();
const window = document.documentElement.dataset.window ?? "";
/** Read before the input is made, which keeps what is in it. A view that was hidden has it; after a reload, the extension. */
const before = kept()?.window === window ? kept() : undefined;
let lately: readonly string[] = before?.sent ?? [];
/** What is typed is known to be all there is: the extension is told of it. */
let whole = before !== undefined;
/** What it was told last. */
let told: Required<Pick<Kept, "pictures" | "recalled" | "sent">> = { pictures: [], recalled: [], sent: [] };
const plan = el("details.plan", { hidden: true }, el("summary"), el("div"));
const welcome = el("div.welcome", { hidden: true });
const keyless = el("p.keyless", { hidden: true }, l10n.t("Without an API key an offline model answers, by a few rules."), " ", way(l10n.t("Set API Key…"), "setApiKey"));
/** The session is on its way. */
const loading = el("p.loading", {}, l10n.t("Loading…"));
let ready = false;
const distrusted = el("div.notice.distrusted", { "data-level": "warning", hidden: true }, icon("info"), el("span", {}, l10n.t("This folder is not trusted: nothing is changed or run in it."), " ", way(l10n.t("Manage Trust…"), "trust")));
const banner = el("div.banner", { role: "alert", hidden: true });
const composer = new Composer({ send: hand, changed: remember, sent });
/** What was reviewed and is to stay; the extension keeps it. */
const reviewed = new Set<string>();
const transcript = new Transcript(send, showPlan, {
  has: (name) => reviewed.has(name),
  add: (name) => keepReviewed(reviewed.add(name)),
  remove: (name) => reviewed.delete(name) && keepReviewed(reviewed),
}, (partId, label) => composer.recall(partId, label));
const questions = new Questions(send, () => composer.focus());

document.body.classList.add("chat");
document.body.append(
  transcript.element,
  el("footer.foot", {}, transcript.jump, distrusted, banner, questions.element, plan, composer.element),
);
transcript.element.append(welcome, loading);
document.body.addEventListener("click", followLink);
document.body.addEventListener(BLOCK, (event) => send((event as CustomEvent<Block>).detail));
// Whoever comes into the view comes to type, unless they were at something in it.
addEventListener("focus", () => document.activeElement === document.body && composer.focus());
welcome.append(
  el("h2", {}, "Sidecar"),
  el("p", {}, l10n.t("Ask for a change, and see each step. You can go back to before any turn, in files and conversation.")),
  keyless,
  el("p.ways", {}, way(l10n.t("Switch Model…"), "switchModel"), way(l10n.t("Import Session…"), "import"), way(l10n.t("Take the Tour"), "tour")),
  el("ul.hints", {}, hint(l10n.t("Enter"), l10n.t("sends")), hint(l10n.t("Shift+Enter"), l10n.t("begins a line")), hint(l10n.t("Escape"), l10n.t("stops the turn")), hint("@", l10n.t("names a file or a session")), hint("/", l10n.t("lists the commands")), hint("↑", l10n.t("brings back what you sent")), hint(l10n.t("PgUp PgDn"), l10n.t("go between turns"))),
);
if (before) composer.put(before);
document.body.addEventListener("dragover", (event) => event.preventDefault());
document.body.addEventListener("drop", (event) => {
  event.preventDefault();
  if (event.dataTransfer) composer.drop(event.dataTransfer);
});

let frame = 0;
addEventListener("message", ({ data }: MessageEvent<ToChat>) => {
  take(data);
  welcome.hidden = !transcript.empty || !ready;
  loading.hidden = !transcript.empty || ready || !banner.hidden;
  frame ||= requestAnimationFrame(() => {
    frame = 0;
    transcript.draw();
  });
});
send({ type: "shown" });

function take(message: ToChat): void {
  switch (message.type) {
    case "session":
      ready = false;
      transcript.clear();
      composer.begin(message.sessionId);
      questions.take([]);
      showPlan([]);
      return;
    case "updates":
      for (const update of message.updates) transcript.take(update);
      return;
    case "ready":
      ready = true;
      keyless.hidden = message.model !== "offline";
      transcript.live = true;
      composer.session(message.readOnly, message.model);
      return;
    case "checkpoints":
      return transcript.checkpoints(message.checkpoints);
    case "unseen":
      return transcript.unseen(message.parts);
    case "questions":
      questions.take(message.questions);
      return transcript.asked(message.questions);
    case "busy":
      composer.busy = message.busy;
      transcript.busy = message.busy;
      document.body.classList.toggle("busy", message.busy);
      return;
    case "refused":
      composer.put(message);
      return showBanner(message.message);
    case "retrying":
      return transcript.retrying(message.retrying);
    case "draft":
      return composer.draft(message);
    case "reviewed":
      return transcript.reviewed(message);
    case "kept":
      for (const name of message.kept.reviewed ?? []) reviewed.add(name);
      if (whole) return;
      whole = true;
      lately = [...message.kept.sent, ...lately];
      return composer.put(message.kept);
    case "editor":
      composer.editor = message.shown;
      return;
    case "found":
      return composer.found(message.query, message.files, message.symbols, message.sessions);
    case "mentions":
      return composer.insert(message.text);
    case "reveal":
      if (!transcript.reveal(message.partId)) showBanner(l10n.t("What was found is not in the conversation any more: going back left it behind."));
      return;
    case "meter":
      return composer.measure(message.meter);
    case "daemon":
      distrusted.hidden = message.trusted;
      return showBanner(message.state === "failed" || message.state === "stopped" ? message.message || l10n.t("The daemon is not running.") : "", true);
  }
}

/** Send, and remember what was said. */
function hand(message: FromChat): void {
  if (message.type === "send") {
    if (message.text) lately = [...lately.slice(1 - MOST_SENT), message.text];
    transcript.toEnd();
  }
  send(message);
}

function keepReviewed(names: ReadonlySet<string>): void {
  send({ type: "keep", kept: { reviewed: [...names].slice(-MOST_REVIEWED) } });
}

/** Keep a draft while the view is hidden, and over a reload. */
function remember({ text, pictures, recalled = [] }: Draft): void {
  if (!whole) return;
  keep({ text, pictures, recalled, sent: lately, window });
  const small = pictures.reduce((sum, { data }) => sum + data.length, 0) <= MOST_KEPT ? pictures : [];
  // Both are large, and what is typed is told letter by letter: a page may end at any moment.
  const kept = { ...(!same(small, told.pictures) && { pictures: small }), ...(!same(recalled, told.recalled) && { recalled }), ...(lately !== told.sent && { sent: lately }) };
  send({ type: "keep", kept: { text, ...kept } });
  told = { pictures: small, recalled, sent: lately };
}

function same<T>(some: readonly T[], others: readonly T[]): boolean {
  return some.length === others.length && some.every((one, index) => one === others[index]);
}

/** What was sent, each text where it was sent last: in any session, then in this one. */
function sent(): string[] {
  const all = [...lately, ...transcript.sent];
  return all.filter((text, index) => all.lastIndexOf(text) === index);
}

function showPlan(items: Task[]): void {
  const done = items.filter(({ status }) => status === "completed").length;
  const now = items.find(({ status }) => status === "in_progress");
  plan.hidden = !items.length || done === items.length;
  const [head, body] = plan.children as unknown as [HTMLElement, HTMLElement];
  fill(head, icon("chevron"), el("span.verb", {}, l10n.t("{0} of {1} done", done, items.length)), el("span.target", {}, now?.content ?? ""));
  fill(body, tasks(items));
}

function showBanner(text: string, daemon = false): void {
  banner.hidden = !text;
  const run = (label: string, command: "restart" | "showLog") => button(label, () => send({ type: "run", command }), undefined, "link");
  const close = button(l10n.t("Dismiss"), () => (banner.hidden = true), icon("failed"), "quiet");
  fill(banner, icon("failed"), el("span", {}, text), ...(daemon ? [run(l10n.t("Restart"), "restart"), run(l10n.t("Show Log"), "showLog")] : []), close);
}

function way(label: string, command: Command): HTMLElement {
  return button(label, () => send({ type: "run", command }), undefined, "link");
}

function hint(keys: string, what: string): HTMLElement {
  return el("li", {}, el("kbd", {}, keys), ` ${what}`);
}

/** Links are opened by the extension: a page must not go anywhere. */
function followLink(event: MouseEvent): void {
  const link = (event.target as Element).closest?.("a[href]");
  if (!link) return;
  event.preventDefault();
  send({ type: "link", href: link.getAttribute("href") ?? "" });
}
