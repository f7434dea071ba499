/** Markdown as it streams: only blocks that changed are drawn again, so that selections stay. */

import MarkdownIt from "markdown-it";
import { button, el } from "./dom";
import { icon } from "./icons";

// Raw HTML stays text, and pictures are links: nothing is fetched.
const parser = new MarkdownIt({ html: false, linkify: true, breaks: false }).disable("image");
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
type Token = ReturnType<typeof parser.parse>[number];

const plainCell = parser.renderer.renderToken.bind(parser.renderer);
for (const cell of ["th_open", "td_open"]) {
  // The page's policy forbids style attributes, so that alignment is a class.
  parser.renderer.rules[cell] = (tokens, index, options) => {
    const token = tokens[index] as Token;
    const [, side] = /text-align:\s*(\w+)/.exec(String(token.attrGet("style") ?? "")) ?? [];
    token.attrs = (token.attrs ?? []).filter(([name]) => name !== "style");
    if (side) token.attrJoin("class", `align-${side}`);
    return plainCell(tokens, index, options);
  };
}

/** A text that grows. */
export class Markdown {
  readonly element = el("div.markdown");
  private drawn: string[] = [];

  /** Show this text instead of the one before. */
  show(text: string): void {
    const blocks = pieces(text);
    const same = blocks.findIndex((html, index) => html !== this.drawn[index]);
    const first = same < 0 ? blocks.length : same;
    while (this.element.children.length > first) this.element.lastElementChild?.remove();
    for (const html of blocks.slice(first)) this.element.append(block(html));
    this.drawn = blocks;
  }
}

/** The HTML of each block that stands by itself. */
function pieces(text: string): string[] {
  const environment = {};
  const found: Token[][] = [[]];
  for (const token of parser.parse(text, environment)) {
    found.at(-1)?.push(token);
    if (token.level === 0 && token.nesting <= 0) found.push([]);
  }
  return found.filter((tokens) => tokens.length).map((tokens) => parser.renderer.render(tokens, parser.options, environment));
}

function block(html: string): HTMLElement {
  const made = el("div.block");
  made.innerHTML = html;
  for (const code of made.querySelectorAll<HTMLElement>("pre > code")) dress(code);
  for (const table of made.querySelectorAll("table")) {
    const room = el("div.table", { tabindex: 0, role: "region", "aria-label": "Table" });
    table.replaceWith(room);
    room.append(table);
  }
  return made;
}

/** Give a piece of code its language and a button to copy it. */
function dress(code: HTMLElement): void {
  const pre = code.parentElement as HTMLElement;
  const [, language = ""] = /language-(\S+)/.exec(code.className) ?? [];
  pre.tabIndex = 0;
  const copy = button("Copy code", () => void navigator.clipboard.writeText(code.textContent ?? "").then(() => told(copy)), icon("copy"), "quiet");
  const frame = el("div.code", {}, el("div.code-head", {}, el("span", {}, language), copy));
  pre.replaceWith(frame);
  frame.append(pre);
}

function told(copy: HTMLButtonElement): void {
  copy.replaceChildren(icon("done"));
  setTimeout(() => copy.replaceChildren(icon("copy")), 1500);
}
