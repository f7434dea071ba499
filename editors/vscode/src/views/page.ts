/** The page of a view: its script by a nonce, its styles from the extension, and no network. */

import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { env, type ExtensionContext, l10n, Uri, type Webview } from "vscode";

/** Tells what a page kept in this window from what is left of one before a reload. */
const WINDOW = randomUUID();

/** Let a webview show the page of this name. */
export function showPage(webview: Webview, { extensionUri }: ExtensionContext, name: "chat" | "context", title: string): void {
  const base = Uri.joinPath(extensionUri, "dist", "pages");
  webview.options = { enableScripts: true, localResourceRoots: [base] };
  const at = webview.asWebviewUri(base).toString();
  const given: Record<string, string> = {
    source: webview.cspSource,
    nonce: randomBytes(16).toString("base64"),
    base: at,
    script: `${at}/${name}.js`,
    name,
    title,
    language: env.language,
    window: WINDOW,
    texts: l10n.bundle ? JSON.stringify(l10n.bundle) : "",
  };
  const template = readFileSync(Uri.joinPath(base, "page.html").fsPath, "utf8");
  webview.html = template.replace(/\{\{(\w+)\}\}/g, (_, key: string) => escaped(given[key] ?? ""));
}

/** A text in an attribute. */
function escaped(text: string): string {
  return text.replace(/[&<"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
