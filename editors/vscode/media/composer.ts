/** The input, with what goes along and what it is sent to: chips, model, meter, send and stop. */

import type { Meter } from "sidecar-protocol";
import { l10n } from "vscode";
import type { Draft, FoundSession, FoundSymbol, FromChat, Shown } from "../src/views/messages";
import { mention, type Slash, SLASHES, type Typed, typed } from "../src/views/slash";
import { count } from "../src/wording";
import { Attachments } from "./attachments";
import { button, el, fill, say } from "./dom";
import { icon } from "./icons";
import { Past } from "./past";
import { type Suggestion, Suggestions } from "./suggestions";

/** Milliseconds that a mention stands still before files are looked for. */
const FINDING = 80;

/** What a composer needs of the page. */
export interface Around {
  send: (message: FromChat) => void;
  /** What is in it changed. */
  changed: (draft: Draft) => void;
  /** The texts that were sent, the newest last. */
  sent: () => string[];
}

export class Composer {
  private readonly input = el("textarea", { rows: 1, "aria-label": l10n.t("Message to Sidecar"), "aria-controls": "suggestions", "aria-autocomplete": "list", placeholder: l10n.t("Ask Sidecar"), spellcheck: "false" });
  private readonly model = el("button.pick", { type: "button", title: l10n.t("Switch model") });
  private readonly meter = el("button.pick.meter", { type: "button", hidden: true });
  private readonly stop = button(l10n.t("Stop (Escape)"), () => this.around.send({ type: "cancel" }), icon("stop"), "round stop");
  private readonly go = button(l10n.t("Send (Enter)"), () => this.submit(), icon("send"), "round primary");
  private readonly told = el("div.told", { role: "alert", hidden: true });
  private readonly attached = new Attachments(() => this.drawn(), (text) => this.tell(text));
  private readonly past = new Past(this.input, () => this.around.sent(), (text) => this.write(text));
  private readonly suggestions = new Suggestions(this.input);
  readonly element: HTMLElement;
  private working = false;
  private drafted = "";
  private finding = 0;
  private readOnly = false;
  private sessionId = "";

  constructor(private readonly around: Around) {
    this.model.addEventListener("click", () => around.send({ type: "run", command: "switchModel" }));
    this.meter.addEventListener("click", () => around.send({ type: "run", command: "showContext" }));
    this.input.addEventListener("input", () => {
      this.past.leave();
      this.tell("");
      this.suggest();
      this.drawn();
    });
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("paste", (event) => this.attached.files(event.clipboardData?.files ?? []) && event.preventDefault());
    this.element = el(
      "form.composer",
      { onsubmit: (event) => event.preventDefault() },
      this.suggestions.element,
      this.told,
      this.attached.element,
      this.input,
      el("div.tools", {}, this.model, this.meter, el("span.room"), this.stop, this.go),
    );
    addEventListener("resize", () => this.grow());
    this.element.addEventListener("click", ({ target }) => target === this.element && this.focus());
    this.drawn();
  }

  get text(): string {
    return this.input.value;
  }

  /** Put a draft into the input, such as a rolled-back prompt, in place of an earlier one that nobody changed. */
  draft(draft: Draft): void {
    if (this.text === this.drafted) this.input.value = "";
    this.put(draft);
    this.drafted = this.text;
  }

  /** Put a message back into the input. What was typed there stays below it. */
  put({ text, pictures, recalled = [] }: Draft): void {
    const own = this.text.trim();
    this.input.value = own && own !== text.trim() ? [text, own].filter(Boolean).join("\n\n") : text;
    this.attached.put(pictures);
    this.attached.recall(recalled);
    this.drawn();
    // Whoever is elsewhere stays there: in the palette, in an editor.
    if (document.hasFocus()) this.focus();
    this.input.setSelectionRange(text.length, text.length);
  }

  focus(): void {
    this.input.focus();
  }

  /** Another session, or the same anew: what was recalled from another is not this one's. */
  begin(sessionId: string): void {
    this.sessionId = sessionId;
    this.attached.keepOf(sessionId);
  }

  /** Let an earlier part go along whole with the next message. */
  recall(partId: string, label: string): void {
    if (this.readOnly) return;
    this.attached.recall([{ sessionId: this.sessionId, partId, label }]);
    say(l10n.t("Goes along with your next message: {0}", label));
    this.focus();
  }

  /** Take what was dropped: pictures, and files as mentions. */
  drop(data: DataTransfer): void {
    if (this.readOnly || this.attached.files(data.files)) return;
    const uris = data.getData("text/uri-list").split(/\r?\n/).filter((uri) => uri && !uri.startsWith("#"));
    if (uris.length) this.around.send({ type: "mention", uris });
  }

  /** Offer the files, symbols and sessions that were found, if they are still asked for. */
  found(query: string, files: readonly string[], symbols: readonly FoundSymbol[] = [], sessions: readonly FoundSession[] = []): void {
    if (query !== this.mentioned) return;
    this.suggestions.show([...files.map((path) => this.ofFile(path)), ...symbols.map((one) => this.ofSymbol(one)), ...sessions.map((one) => this.ofSession(one))]);
  }

  /** Write into the text where the caret is. */
  insert(text: string): void {
    const { selectionStart, selectionEnd, value } = this.input;
    const before = /\S$/.test(value.slice(0, selectionStart)) ? " " : "";
    this.input.setRangeText(before + text, selectionStart, selectionEnd, "end");
    this.drawn();
    this.focus();
  }

  set busy(busy: boolean) {
    this.working = busy;
    this.drawn();
  }

  /** What of the editor goes along. */
  set editor(shown: Shown) {
    this.attached.show(shown);
  }

  /** The session as it is: whether it can be written here, and its model. */
  session(readOnly: boolean, model: string): void {
    this.readOnly = readOnly;
    this.input.disabled = readOnly;
    fill(this.model, model);
    this.model.setAttribute("aria-label", l10n.t("Model: {0}. Switch", model));
    this.model.disabled = readOnly;
    this.drawn();
  }

  measure({ percent, zone, used, window, reservedOutput, accuracy }: Meter): void {
    const about = accuracy === "exact" ? "" : "~";
    const label = l10n.t("{0}% of the context, {1} of {2} tokens. Show what fills it", Math.round(percent), count(used), count(window - reservedOutput));
    const level = el("span.level");
    level.style.inlineSize = `${Math.min(100, percent)}%`;
    this.meter.hidden = false;
    this.meter.dataset["zone"] = zone;
    this.meter.title = label;
    this.meter.setAttribute("aria-label", label);
    this.meter.replaceChildren(el("span.gauge", { "aria-hidden": "true" }, level), `${about}${Math.round(percent)}%`);
  }

  private drawn(): void {
    this.grow();
    const { pictures, recalled } = this.attached;
    const some = this.text.trim() !== "" || pictures.length > 0 || recalled.length > 0;
    this.stop.hidden = !this.working;
    this.go.hidden = this.working && !some;
    this.go.disabled = this.readOnly || !some;
    const label = this.working ? l10n.t("Add to the running turn (Enter)") : l10n.t("Send (Enter)");
    this.go.title = label;
    this.go.setAttribute("aria-label", label);
    this.input.placeholder = this.readOnly ? l10n.t("Another window writes this session") : this.working ? l10n.t("Add to the running turn") : l10n.t("Ask Sidecar, / for commands");
    this.around.changed({ text: this.text, pictures, recalled });
  }

  /** The height follows the text, up to a limit that the styles set. */
  private grow(): void {
    this.input.style.blockSize = "auto";
    this.input.style.blockSize = `${this.input.scrollHeight}px`;
  }

  private write(text: string): void {
    this.input.value = text;
    this.drawn();
  }

  private key(event: KeyboardEvent): void {
    if (event.isComposing || this.suggestions.key(event)) return;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.submit();
    } else if (event.key === "Escape" && this.working) {
      event.preventDefault();
      this.around.send({ type: "cancel" });
    } else {
      this.past.key(event);
    }
  }

  /** Offer what completes the text before the caret: a command, or a file after `@`, which the extension looks for. */
  private suggest(): void {
    const name = /^\/([\w-]*)$/.exec(this.text)?.[1]?.toLowerCase();
    const found = SLASHES.filter((one) => name !== undefined && one.name.startsWith(name));
    clearTimeout(this.finding);
    const { mentioned } = this;
    if (mentioned === undefined) return this.suggestions.show(found.map((one) => this.ofCommand(one)));
    this.finding = setTimeout(() => this.around.send({ type: "find", query: mentioned }), FINDING);
  }

  /** What stands after the `@` before the caret. */
  private get mentioned(): string | undefined {
    const { value, selectionStart, selectionEnd } = this.input;
    return selectionStart === selectionEnd ? /(?:^|[\s(])@([^\s@"]*)$/.exec(value.slice(0, selectionStart))?.[1] : undefined;
  }

  /** One that takes no words is run at once; so is one whose name is written out, without words. */
  private ofCommand({ name, does, takes }: Slash): Suggestion {
    const take = () => {
      const whole = this.text === `/${name}`;
      this.write(`/${name}${takes ? " " : ""}`);
      if (whole || !takes) this.submit();
    };
    return { label: `/${name}`, detail: takes ? `${does} (${takes})` : does, take };
  }

  private ofFile(path: string): Suggestion {
    const place = path.lastIndexOf("/") + 1;
    return { label: path.slice(place), ...(place && { detail: path.slice(0, place - 1) }), take: () => this.complete(mention(path)) };
  }

  private ofSymbol({ name, path, lines }: FoundSymbol): Suggestion {
    return { label: name, detail: `${path}:${lines[0]}`, take: () => this.complete(mention(path, lines)) };
  }

  /** A session goes along as a chip: its digest is more than a name. */
  private ofSession({ sessionId, title, about }: FoundSession): Suggestion {
    const take = () => {
      this.complete("");
      this.attached.recall([{ sessionId, label: title }]);
    };
    return { label: title, detail: about, take };
  }

  /** Write a whole mention in place of what is typed of one. */
  private complete(whole: string): void {
    const { mentioned } = this;
    const { selectionStart: caret } = this.input;
    if (mentioned === undefined) return;
    this.input.setRangeText(whole, caret - mentioned.length - 1, caret, "end");
    this.drawn();
  }

  private submit(): void {
    const text = this.text.trim();
    const { pictures } = this.attached;
    const found = pictures.length ? undefined : typed(text);
    if (found) this.command(found, text);
    else if (!this.readOnly) this.hand(text);
  }

  private command(found: Typed, text: string): void {
    if ("wrong" in found) {
      const { wrong, meant } = found;
      const use = meant && button(l10n.t("Use {0}", meant), () => this.instead(meant), undefined, "link");
      const others = meant ? "" : l10n.t(" There are {0}.", SLASHES.map(({ name }) => `/${name}`).join(", "));
      return this.tell(`${wrong}${others}`, use, button(l10n.t("Send as Text"), () => this.hand(text), undefined, "link"));
    }
    this.write("");
    this.around.send({ type: "run", command: found.slash.command, ...(found.argument && { argument: found.argument }) });
  }

  private instead(text: string): void {
    this.tell("");
    this.write(text);
    this.focus();
  }

  private hand(text: string): void {
    const { pictures, recalled, without } = this.attached;
    if (!text && !pictures.length && !recalled.length) return;
    this.around.send({ type: "send", text, pictures, ...(recalled.length && { recalled }), without, steer: this.working });
    this.tell("");
    this.attached.clear();
    this.past.leave();
    this.write("");
    this.focus();
  }

  private tell(text: string, ...buttons: (HTMLElement | "" | undefined)[]): void {
    this.told.hidden = !text;
    fill(this.told, el("span", {}, text), ...buttons.map((one) => one || undefined));
  }
}
