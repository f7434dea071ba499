/** What the daemon is told when it starts: settings, whether the folder is trusted, and the API key. */

import type { InitializationOptions } from "sidecar-protocol";
import { l10n, type SecretStorage, window, workspace } from "vscode";

const KEY = "sidecar.apiKey";

/** Give `initializationOptions`. What is not set is left out, so that the daemon's own files count. */
export async function readOptions(secrets: SecretStorage): Promise<InitializationOptions> {
  const settings = workspace.getConfiguration("sidecar");
  const set = <T>(name: string) => settings.get<T>(name) || undefined;
  const apiKey = await secrets.get(KEY);
  return given({
    model: set<string>("model"),
    policy: set<string>("policy"),
    window: set<number>("window"),
    dataDir: set<string>("dataDir"),
    workspaceTrusted: workspace.isTrusted,
    provider: given({ name: set<string>("provider"), baseUrl: set<string>("baseUrl"), apiKey }),
    permissions: given({ allow: set<string[]>("permissions.allow"), reject: set<string[]>("permissions.reject") }),
    config: set<Record<string, unknown>>("config"),
  });
}

/** Ask for the API key, keep it where the editor keeps secrets, and give it; an empty one is forgotten. */
export async function askForKey(secrets: SecretStorage): Promise<string | undefined> {
  const typed = await window.showInputBox({
    title: l10n.t("Sidecar: API key of the model's provider"),
    prompt: l10n.t("It is kept in the editor's secret storage. Leave it empty to forget it."),
    password: true,
    ignoreFocusOut: true,
  });
  const key = typed?.trim();
  if (key !== undefined) await (key ? secrets.store(KEY, key) : secrets.delete(KEY));
  return key;
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function given<T extends object>(values: T): Given<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<T>;
}
