/** Unified diffs as the views show them. */

/** A `diff` block of a question: the text of a hunk before and after; `oldText` is null where there is no file. */
export interface Hunk {
  oldText?: string | null;
  newText: string;
}

/** Both sides of the file that has this text now; where the hunks have no one place in it, those alone. */
export function sidesOf(now: string, hunks: readonly Hunk[]): [string, string] {
  const [before, after] = [[] as string[], [] as string[]];
  let rest = now.replace(/\r\n/g, "\n");
  for (const { oldText, newText } of hunks) {
    const old = oldText ?? "";
    const at = `\n${rest}`.indexOf(`\n${old}`);
    const again = `\n${rest}`.indexOf(`\n${old}`, at + 1);
    if (at < 0 || (old ? again >= 0 : rest !== "")) return alone(hunks);
    before.push(rest.slice(0, at), old);
    after.push(rest.slice(0, at), newText);
    rest = rest.slice(at + old.length);
  }
  return [[...before, rest].join(""), [...after, rest].join("")];
}

function alone(hunks: readonly Hunk[]): [string, string] {
  const joined = (texts: string[]) => texts.map((text) => (text && text.replace(/\n?$/, "\n"))).join("⋯\n");
  return [joined(hunks.map(({ oldText }) => oldText ?? "")), joined(hunks.map(({ newText }) => newText))];
}

/** Hunks as a unified diff: what is the same at their ends, what goes, what comes. */
export function unified(hunks: Hunk[]): string {
  return hunks.map(({ oldText, newText }) => `@@\n${lines(split(oldText ?? ""), split(newText))}`).join("");
}

/** A diff's lines without its head; the head alone ends at the first hunk, whatever later lines begin with. */
export function rows(diff: string): string[] {
  const found = split(diff);
  return found.slice(Math.max(0, found.findIndex((line) => line.startsWith("@@"))));
}

function split(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** What is the same at the beginning, what goes, what comes, what is the same at the end. */
function middle(old: string[], now: string[]): [string[], string[], string[], string[]] {
  const least = Math.min(old.length, now.length);
  let head = 0;
  while (head < least && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < least - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  return [old.slice(0, head), old.slice(head, old.length - tail), now.slice(head, now.length - tail), old.slice(old.length - tail)];
}

function lines(old: string[], now: string[]): string {
  const signed = (sign: string, from: string[]) => from.map((line) => `${sign}${line}\n`).join("");
  const [head, goes, comes, tail] = middle(old, now);
  return signed(" ", head) + signed("-", goes) + signed("+", comes) + signed(" ", tail);
}

/** Whether lines change by blanks at their edges alone, which the editor's diff marks only if the user wishes. */
export function changesEdges(hunks: Hunk[]): boolean {
  return hunks.some(({ oldText, newText }) => {
    const [, goes, comes] = middle(split(oldText ?? ""), split(newText));
    const [before, after] = [forms(goes), forms(comes)];
    return [...after].some(([text, lines]) => before.has(text) && [...lines].sort().join("\n") !== [...(before.get(text) ?? [])].sort().join("\n"));
  });
}

/** By text without blanks at the edges, the lines that it stands in. */
function forms(lines: string[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const line of lines) found.set(line.trim(), (found.get(line.trim()) ?? new Set()).add(line));
  return found;
}
