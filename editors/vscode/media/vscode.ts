/** What pages have of the editor's API: its language, and the extension's texts in it, both written into the page. */

const { dataset, lang } = document.documentElement;
const bundle = dataset["texts"] ? (JSON.parse(dataset["texts"]) as Record<string, string>) : undefined;

export const env = { language: lang };

export const l10n = {
  bundle,
  /** The text in the editor's language, with `{0}`, `{1}`… filled in. */
  t: (text: string, ...given: (string | number)[]): string => (bundle?.[text] ?? text).replace(/\{(\d+)\}/g, (place, index) => String(given[Number(index)] ?? place)),
};
