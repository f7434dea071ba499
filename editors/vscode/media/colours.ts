/** Colours code by its language, in the theme's colours (`markdown.css`). */

import hljs from "highlight.js/lib/common";

/** Letters of a piece that is coloured anew as it grows: some milliseconds. */
const MOST = 20_000;

/** The code as HTML; nothing for a language that is not known, or too much of it. */
export function coloured(code: string, language: string): string | undefined {
  if (code.length > MOST || !hljs.getLanguage(language)) return undefined;
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}
