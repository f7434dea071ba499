/** The views' pictures: sixteen by sixteen, in the colour of the text around them. */

const PATHS = {
  read: "M4 1.5h5.5l3 3v10H4z M9.5 1.5v3h3 M6 8h4.5 M6 10.5h4.5",
  edit: "M2.5 13.5l.7-3.2 7.6-7.6a1.4 1.4 0 0 1 2 0l.5.5a1.4 1.4 0 0 1 0 2l-7.6 7.6z M9.5 4l2.5 2.5",
  search: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9z M10.2 10.2l3.8 3.8",
  execute: "M1.5 2.5h13v11h-13z M4 6l2.2 2L4 10 M8 10.5h4",
  other: "M3 3.5h10 M3 8h10 M3 12.5h10",
  think: "M8 1.5a4.5 4.5 0 0 1 2.5 8.2v1.8h-5V9.7A4.5 4.5 0 0 1 8 1.5z M6 14.5h4",
  done: "M3 8.5l3.2 3.2L13 4.8",
  failed: "M4 4l8 8 M12 4l-8 8",
  waiting: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2z M8 4.8V8l2.2 1.6",
  lock: "M3.5 7h9v7h-9z M5.5 7V4.8a2.5 2.5 0 0 1 5 0V7",
  restore: "M3 3v3.5h3.5 M3.3 6.3A5.3 5.3 0 1 1 2.8 9.5",
  send: "M8 13V3.5 M3.8 7.5L8 3.3l4.2 4.2",
  stop: "M4.5 4.5h7v7h-7z",
  chevron: "M6 4l4 4-4 4",
  copy: "M5.5 5.5h8v8h-8z M10.5 5.5v-3h-8v8h3",
  insert: "M8 2v7.5 M5 6.8L8 9.8l3-3 M2.5 13.5h11",
  diff: "M8 2.5v6 M5 5.5h6 M5 12.5h6",
  warning: "M8 2.5l6 11H2z M8 6.5v3.2 M8 11.6v.2",
  info: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2z M8 7.2v3.8 M8 5v.2",
  compact: "M8 1.5V6 M5.8 4L8 6.2 10.2 4 M8 14.5V10 M5.8 12L8 9.8l2.2 2.2 M2.5 8h11",
  down: "M8 3v9.5 M3.8 8.5L8 12.7l4.2-4.2",
  unseen: "M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8z M8 6.2a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6z M3 13.5l10-11",
  recall: "M3 13V7.5h7 M7 4L3.2 7.5 7 11 M10 7.5h3.5V13",
  session: "M2.5 3h11v8h-6l-3 2.5V11h-2z",
  pin: "M5.5 2h5 M6.2 2v4L4 9h8L9.8 6V2 M8 9v5",
  fork: "M5 5.5v5 M5 8h3.5a2.5 2.5 0 0 0 2.5-2.5 M5 2.5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3z M11 2.5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3z M5 10.5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3z",
} as const;

export type Picture = keyof typeof PATHS;

export function icon(name: Picture): SVGSVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
