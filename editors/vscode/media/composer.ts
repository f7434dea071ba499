/** The input, with what it is sent to: model, meter, send and stop. */

import type { Meter } from "sidecar-protocol";
import type { FromChat } from "../src/views/messages";
import { button, el, fill } from "./dom";
import { icon } from "./icons";

export class Composer {
  private readonly input = el("textarea", { rows: 1, "aria-label": "Message to Sidecar", placeholder: "Ask Sidecar", spellcheck: "false" });
  private readonly model = el("button.pick", { type: "button", title: "Switch model" });
  private readonly meter = el("button.pick.meter", { type: "button", hidden: true });
  private readonly stop = button("Stop (Escape)", () => this.send({ type: "cancel" }), icon("stop"), "round stop");
  private readonly go = button("Send (Enter)", () => this.submit(), icon("send"), "round primary");
  readonly element: HTMLElement;
  private working = false;
  private readOnly = false;

  constructor(private readonly send: (message: FromChat) => void, private readonly changed: (text: string) => void) {
    this.model.addEventListener("click", () => send({ type: "run", command: "switchModel" }));
    this.meter.addEventListener("click", () => send({ type: "run", command: "showContext" }));
    this.input.addEventListener("input", () => this.typed());
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.element = el(
      "form.composer",
      { onsubmit: (event) => event.preventDefault() },
      this.input,
      el("div.tools", {}, this.model, this.meter, el("span.room"), this.stop, this.go),
    );
    this.element.addEventListener("click", ({ target }) => target === this.element && this.focus());
    this.typed();
  }

  get text(): string {
    return this.input.value;
  }

  /** Put a text into the input: a rolled-back prompt, a draft. What was typed there stays below it. */
  put(text: string): void {
    const typed = this.text.trim();
    this.input.value = typed && typed !== text.trim() ? `${text}\n\n${typed}` : text;
    this.typed();
    // Whoever is elsewhere stays there: in the palette, in an editor.
    if (document.hasFocus()) this.focus();
    this.input.setSelectionRange(text.length, text.length);
  }

  focus(): void {
    this.input.focus();
  }

  set busy(busy: boolean) {
    this.working = busy;
    this.typed();
  }

  /** The session as it is: whether it can be written here, and its model. */
  session(readOnly: boolean, model: string): void {
    this.readOnly = readOnly;
    this.input.disabled = readOnly;
    fill(this.model, model);
    this.model.setAttribute("aria-label", `Model: ${model}. Switch`);
    this.model.disabled = readOnly;
    this.typed();
  }

  measure({ percent, zone, used, window, reservedOutput, accuracy }: Meter): void {
    const about = accuracy === "exact" ? "" : "~";
    const label = `${Math.round(percent)}% of the context, ${used.toLocaleString("en-US")} of ${(window - reservedOutput).toLocaleString("en-US")} tokens`;
    const level = el("span.level");
    level.style.inlineSize = `${Math.min(100, percent)}%`;
    this.meter.hidden = false;
    this.meter.dataset["zone"] = zone;
    this.meter.title = `${label}. Show what fills it`;
    this.meter.setAttribute("aria-label", `${label}. Show what fills it`);
    this.meter.replaceChildren(el("span.gauge", { "aria-hidden": "true" }, level), `${about}${Math.round(percent)}%`);
  }

  private typed(): void {
    // The height follows the text, up to a limit that the styles set.
    this.input.style.blockSize = "auto";
    this.input.style.blockSize = `${this.input.scrollHeight}px`;
    const some = this.text.trim() !== "";
    this.stop.hidden = !this.working;
    this.go.hidden = this.working && !some;
    this.go.disabled = this.readOnly || !some;
    const label = this.working ? "Add to the running turn (Enter)" : "Send (Enter)";
    this.go.title = label;
    this.go.setAttribute("aria-label", label);
    this.input.placeholder = this.readOnly ? "Another window writes this session" : this.working ? "Add to the running turn" : "Ask Sidecar";
    this.changed(this.text);
  }

  private key(event: KeyboardEvent): void {
    if (event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.submit();
    } else if (event.key === "Escape" && this.working) {
      event.preventDefault();
      this.send({ type: "cancel" });
    }
  }

  private submit(): void {
    const text = this.text.trim();
    if (!text || this.readOnly) return;
    this.input.value = "";
    this.typed();
    this.send({ type: "send", text, steer: this.working });
  }
}
