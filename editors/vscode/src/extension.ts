/** Joins the parts: daemon, session, and what shows them. */

import { type ExtensionContext, window } from "vscode";
import { Daemon } from "./daemon";

export function activate(context: ExtensionContext): void {
  const log = window.createOutputChannel("Sidecar", { log: true });
  context.subscriptions.push(log, new Daemon(log));
}
