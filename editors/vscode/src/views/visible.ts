/** Texts of a model, a folder or a server as people can see them. */

/** The daemon's list (`core/text/visible`), and what holds emoji together. */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u070f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc]|[\u{133fc}\u{13430}-\u{13455}\u{16fe4}\u{1bca0}-\u{1bca3}\u{1d159}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

/** Write out what is not seen or changes how the rest is seen, so that nobody allows something else than they read. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (hidden) => `\\u{${hidden.codePointAt(0)?.toString(16)}}`);
}

/** A name on one line, written out. */
export function visibleName(name: string): string {
  return visible(name).replace(/\n/g, "\\n");
}

/** A text from elsewhere in a list of VS Code's, where `$(name)` would draw an icon. */
export function rowText(text: string): string {
  return visibleName(text).replace(/\$\(/g, "$ (");
}

/** Whether a title is one of our own tools', which hold all that is given; those of others hold a value without its name, and no empty one. */
export function says(title: string, given: object): boolean {
  if (!Object.values(given).every((value) => typeof value === "string")) return false;
  const { command = "", cwd = "", path = "" } = given as Record<string, string>;
  const titles = new Map([
    ["", [title]],
    ["command", command.startsWith("in ") ? [] : [`Run ${command}`]],
    ["command,cwd", cwd.includes(":") ? [] : [`Run in ${cwd}: ${command}`]],
    ["path", [`Read ${path}`, `List ${path}`]],
  ]).get(Object.keys(given).sort().join());
  // A subtask's name stands before its calls' titles.
  return titles?.some((whole) => title === whole || title.endsWith(`”: ${whole}`)) ?? false;
}

/** A text so long at most, without half of a letter. */
export function cut(text: string, most: number): string {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most).join("")}…` : text;
}

/** A part of an address as it is read; one that cannot be decoded as it stands there. */
export function decoded(text: string, decode = decodeURIComponent): string {
  try {
    return decode(text);
  } catch {
    return text;
  }
}

/** A text as a part of an address, which holds no half of a pair of surrogates. */
export function encoded(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"));
}
