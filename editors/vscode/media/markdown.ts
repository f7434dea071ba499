/** Markdown as it streams: only blocks that changed are drawn again, so that selections stay. */

import MarkdownIt from "markdown-it";
import { l10n } from "vscode";
import type { Block } from "../src/views/messages";
import { coloured } from "./colours";
import { button, el } from "./dom";
import { icon } from "./icons";

/** The event by which a piece of code says what is to become of it. */
export const BLOCK = "sidecar-block";

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

const plainCode = parser.renderer.rules.code_inline;
parser.renderer.rules.code_inline = (tokens, index, options, environment, renderer) => {
  const code = plainCode?.(tokens, index, options, environment, renderer) ?? "";
  const [, path, line] = /^([\w@.-][\w@./-]*)(?:#L|:)(\d+)(?:-L?\d+|:\d+)?$/.exec(tokens[index]?.content ?? "") ?? [];
  return path && line ? `<a href="${encodeURI(path)}#L${line}">${code}</a>` : code;
};

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
  made.querySelectorAll("li").forEach(tick);
  for (const table of made.querySelectorAll("table")) {
    const room = el("div.table", { tabindex: 0, role: "region", "aria-label": l10n.t("Table") });
    table.replaceWith(room);
    room.append(table);
  }
  return made;
}

/** Put a box in place of the `[ ]` or `[x]` that an item of a list begins with. */
function tick(item: HTMLLIElement): void {
  const first = item.firstElementChild?.matches("p") && !item.firstChild?.textContent?.trim() ? item.firstElementChild.firstChild : item.firstChild;
  const [whole = "", mark] = /^\[([ xX])\]\s+/.exec(first?.textContent ?? "") ?? [];
  if (!(first instanceof Text && whole)) return;
  first.data = first.data.slice(whole.length);
  first.before(el("input", { type: "checkbox", disabled: true, checked: mark !== " ", "aria-label": mark === " " ? l10n.t("to be done") : l10n.t("done") }));
  item.className = "task";
}

/** Give a piece of code its language and buttons: the page sends what those do that it cannot. */
function dress(code: HTMLElement): void {
  const pre = code.parentElement as HTMLElement;
  const [, language = ""] = /language-(\S+)/.exec(code.className) ?? [];
  pre.tabIndex = 0;
  code.innerHTML = coloured(code.textContent ?? "", language) ?? code.innerHTML;
  const given = () => code.textContent ?? "";
  const ask = (detail: Block) => frame.dispatchEvent(new CustomEvent<Block>(BLOCK, { bubbles: true, detail }));
  const insert = button(l10n.t("Insert at the cursor"), () => ask({ type: "insert", text: given() }), icon("insert"), "quiet");
  const apply = button(l10n.t("Apply to a file…"), () => ask({ type: "apply", text: given(), language }), icon("edit"), "quiet");
  const frame: HTMLElement = el("div.code", {}, el("div.code-head", {}, el("span", {}, language), el("span.room"), apply, insert, copier(l10n.t("Copy code"), given)));
  pre.replaceWith(frame);
  frame.append(pre);
}

/** A button that copies a text, and shows that it did. */
export function copier(label: string, text: () => string): HTMLButtonElement {
  const told = () => {
    copy.replaceChildren(icon("done"));
    setTimeout(() => copy.replaceChildren(icon("copy")), 1500);
  };
  const copy = button(label, () => void navigator.clipboard.writeText(text()).then(told), icon("copy"), "quiet");
  return copy;
}
