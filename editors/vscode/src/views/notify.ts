/** Notifications. The editor makes links of `[text](address)` in them, of its own commands too: here it makes none. */

import { window } from "vscode";
import { visible } from "./visible";

type Notify = (text: string, ...buttons: string[]) => Thenable<string | undefined>;

/** Text that the editor makes no links of. */
export const plain = (text: string) => visible(text).replace(/\]\(/g, "] (");

export const inform: Notify = (text, ...buttons) => window.showInformationMessage(plain(text), ...buttons);
export const warn: Notify = (text, ...buttons) => window.showWarningMessage(plain(text), ...buttons);
export const fail: Notify = (text, ...buttons) => window.showErrorMessage(plain(text), ...buttons);

/** Ask before all else, with room for the whole `detail`. */
export function demand(text: string, detail: string, ...buttons: string[]): Thenable<string | undefined> {
  return window.showWarningMessage(plain(text), { modal: true, detail: visible(detail) }, ...buttons);
}
