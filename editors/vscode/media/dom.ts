/** Makes elements, and speaks to the extension and to screen readers. */

export { visible, visibleName } from "../src/views/visible";

type Child = Node | string | undefined | false;
type Attributes = Record<string, string | number | boolean | undefined | ((event: Event) => void)>;

/** Make an element: `el("button.primary", { "aria-label": "Send", onclick }, icon("send"))`. */
export function el<K extends keyof HTMLElementTagNameMap>(kind: K | `${K}.${string}`, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const [tag = "div", ...classes] = kind.split(".");
  const element = document.createElement(tag) as HTMLElementTagNameMap[K];
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes)) set(element, name, value);
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
}

/** What an element holds for the eye, and the words that a screen reader says in its place. */
export function saidAs(words: string, ...seen: Child[]): Child[] {
  for (const each of seen) if (each instanceof Element) each.setAttribute("aria-hidden", "true");
  return [el("span.spoken", {}, words), ...seen];
}

function set(element: HTMLElement, name: string, value: Attributes[string]): void {
  if (typeof value === "function") element.addEventListener(name.slice(2), value);
  else if (value === true) element.setAttribute(name, "");
  else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
}

/** A button with words, or with a picture and words that are read out. */
export function button(label: string, onclick: () => void, picture?: Node, kind = ""): HTMLButtonElement {
  const named = picture ? { "aria-label": label, title: label } : {};
  const made = el("button", { type: "button", ...named, onclick }, picture ?? label);
  if (kind) made.className = kind;
  return made;
}

/** Replace an element's children when they are other ones; what stays keeps focus and selection. */
export function fill(element: Element, ...children: Child[]): void {
  const wanted = children.filter((child) => child !== undefined && child !== false);
  const same = wanted.length === element.childNodes.length && wanted.every((child, index) => child === element.childNodes[index]);
  if (!same) element.replaceChildren(...wanted);
}

const spoken = el("div.spoken", { role: "status", "aria-live": "polite", "aria-atomic": "true" });
document.body.append(spoken);

/** Have a screen reader say this when it has time; what streams is said when it has ended. */
export function say(text: string): void {
  // The same words again are said again only when they are another text.
  const again = spoken.textContent === text ? "\u00a0" : "";
  spoken.textContent = text + again;
}
