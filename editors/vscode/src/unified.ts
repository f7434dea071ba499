/** Unified diffs, applied to texts. */

/** Apply a diff; undefined when the text is not the one that it was made for. */
export function applied(text: string, diff: string): string | undefined {
  const lines = text.split(/(?<=\n)/);
  const out: string[] = [];
  let at = 0;
  for (const [head = "", ...body] of hunks(diff)) {
    const [, start, length] = /^@@ -(\d+)(?:,(\d+))?/.exec(head) ?? [];
    const first = length === "0" ? Number(start) : Number(start) - 1;
    out.push(...lines.slice(at, first));
    at = first;
    for (const line of body) {
      if (!line.startsWith("+") && lines[at++] !== line.slice(1)) return undefined;
      if (!line.startsWith("-")) out.push(line.slice(1));
    }
  }
  return [...out, ...lines.slice(at)].join("");
}

/** Take a diff out of the text that it led to; undefined when it did not lead there. */
export function takenOut(text: string, diff: string): string | undefined {
  return applied(text, turned(diff));
}

/** What a diff says of one side, where the whole text is not to be had. */
export function side(diff: string, sign: "+" | "-"): string {
  const lines = hunks(diff).flatMap(([, ...body]) => body.filter((line) => line.startsWith(sign) || line.startsWith(" ")));
  return lines.length ? lines.map((line) => line.slice(1)).join("") : diff;
}

/** A diff the other way round; what goes stands before what comes. */
export function turned(diff: string): string {
  const other: Record<string, string> = { "+": "-", "-": "+" };
  return hunks(diff)
    .map(([head = "", ...body]) => [head.replace(/-(\S+) \+(\S+)/, "-$2 +$1"), ...sorted(body.map((line) => (other[line[0] ?? ""] ?? line[0] ?? "") + line.slice(1)))])
    .map((hunk) => hunk.map((line) => (line.endsWith("\n") ? line : `${line}\n\\ No newline at end of file\n`)).join(""))
    .join("");
}

function sorted(lines: string[]): string[] {
  const rank = (line: string) => (line.startsWith("-") ? 0 : 1);
  const runs = lines.reduce<string[][]>((found, line) => {
    const last = found.at(-1);
    const same = last && (last[0]?.startsWith(" ") ?? false) === line.startsWith(" ");
    if (same) last.push(line);
    else found.push([line]);
    return found;
  }, []);
  return runs.flatMap((run) => run.sort((one, next) => rank(one) - rank(next)));
}

/** A diff's hunks, as lines with their line ends; a last line without one has none here either. */
function hunks(diff: string): string[][] {
  const found: string[][] = [];
  for (const line of diff.split(/(?<=\n)/)) {
    const hunk = found.at(-1);
    if (line.startsWith("@@ ")) found.push([line]);
    else if (hunk && line.startsWith("\\")) hunk.push((hunk.pop() ?? "").replace(/\r?\n$/, ""));
    else hunk?.push(line);
  }
  return found;
}
