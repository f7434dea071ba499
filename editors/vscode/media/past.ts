/** What was sent before, by the arrow keys, as in a shell. */

export class Past {
  /** How far back; 0 is what is being typed. */
  private back = 0;
  private draft = "";

  /** `sent` gives the texts, the newest last. */
  constructor(private readonly input: HTMLTextAreaElement, private readonly sent: () => string[], private readonly put: (text: string) => void) {}

  /** Someone types: what is shown is a draft of its own. */
  leave(): void {
    this.back = 0;
  }

  /** Take an arrow key. It moves in the text first; where it cannot any further, it goes through what was sent. */
  key(event: KeyboardEvent): void {
    const { key, shiftKey, altKey, ctrlKey, metaKey } = event;
    const step = { ArrowUp: 1, ArrowDown: -1 }[key];
    if (!step || shiftKey || altKey || ctrlKey || metaKey || (step < 0 && !this.back)) return;
    const { selectionStart: before, selectionEnd } = this.input;
    if (before !== selectionEnd) return;
    // Moved here, and not by the browser after this: whether there is a line above may depend on how it breaks.
    event.preventDefault();
    getSelection()?.modify("move", step > 0 ? "backward" : "forward", "line");
    // On the outermost line the caret may go to the text's end instead of staying.
    const { value, selectionStart: after } = this.input;
    const outermost = !(step > 0 ? value.slice(0, before) : value.slice(before)).includes("\n");
    if (after === before || (outermost && after === (step > 0 ? 0 : value.length))) this.go(step);
  }

  private go(step: number): void {
    const all = this.sent();
    const next = Math.max(0, Math.min(all.length, this.back + step));
    if (next === this.back) return;
    if (!this.back) this.draft = this.input.value;
    this.back = next;
    const text = next ? (all.at(-next) ?? "") : this.draft;
    this.put(text);
    // Going back again takes one key, however many lines it has.
    const place = step > 0 ? 0 : text.length;
    this.input.setSelectionRange(place, place);
  }
}
