/** Where the daemon is: what the setting names, else PATH, else where uv puts tools; or installs it. */

import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import { commands, env, l10n, ProgressLocation, Uri, window, workspace } from "vscode";
import { warn } from "./views/notify";

const run = promisify(execFile);
const [NAME, UV] = ["sidecar", "uv"] as const;
const [INSTALL, ABOUT, SETTINGS] = [l10n.t("Install with uv"), l10n.t("About uv"), l10n.t("Open Settings")] as const;
/** Milliseconds that an installation may take. */
const PATIENCE = 600_000;

export interface Command {
  path: string;
  args: string[];
}

/** Give the command to start, or undefined when there is none. Throws on Windows, and when the setting names none. */
export async function findDaemon(): Promise<Command | undefined> {
  if (process.platform === "win32") throw new Error(l10n.t("Sidecar runs on Linux and macOS; on Windows, open the folder in WSL."));
  const set = workspace.getConfiguration("sidecar").get<string>("path")?.trim();
  if (set && !(await runs(set))) throw new Error(l10n.t("The setting sidecar.path names {0}, which cannot be run.", set));
  const found = set || (await onPath(NAME)) || (await first([join(homedir(), ".local", "bin", NAME), ...installed]));
  return found ? { path: found, args: ["serve"] } : undefined;
}

/** Where uv put it, which need not be the usual place. */
const installed: string[] = [];

/** Offer to install the daemon that came with the extension; gives whether `findDaemon` finds it now. */
export async function installDaemon(extension: Uri): Promise<boolean> {
  const homes = [join(homedir(), ".local", "bin", UV), join(homedir(), ".cargo", "bin", UV)];
  const uv = (await onPath(UV)) ?? (await first(homes));
  const dist = join(extension.fsPath, "dist");
  const wheels = (await readdir(dist)).filter((name) => name.endsWith(".whl")).map((name) => join(dist, name));
  const [daemon, client] = ["sidecard-", "sidecard_client-"].map((name) => wheels.find((path) => path.startsWith(join(dist, name))));
  const able = uv && daemon && client;
  const text = able ? l10n.t("Sidecar's daemon was not found on PATH. It can be installed for you with uv.") : l10n.t("Sidecar's daemon was not found on PATH. Install uv, which can install it for you, or the daemon itself, with: pipx install sidecard");
  const chosen = await warn(text, able ? INSTALL : ABOUT, SETTINGS);
  if (chosen === SETTINGS) await openSettings();
  if (chosen === ABOUT) await env.openExternal(Uri.parse("https://docs.astral.sh/uv/"));
  if (!able || chosen !== INSTALL) return false;
  return window.withProgress({ location: ProgressLocation.Notification, title: l10n.t("Installing Sidecar's daemon") }, async () => {
    // The client is named as a file, so that none of that name is taken from the registry; uv reads
    // settings of the folder that it is started in, which is none of the user's projects here.
    const options = { timeout: PATIENCE, cwd: extension.fsPath };
    await run(uv, ["tool", "install", "--force", "--with", client, daemon], options);
    const { stdout } = await run(uv, ["tool", "dir", "--bin"], { timeout: PATIENCE });
    installed.push(join(stdout.trim(), NAME));
    return true;
  });
}

/** Show where the daemon's path is set: elsewhere than here, among that machine's own settings. */
export async function openSettings(): Promise<void> {
  const query = "sidecar.path";
  if (env.remoteName === undefined) await commands.executeCommand("workbench.action.openSettings", query);
  else await commands.executeCommand("workbench.action.openRemoteSettings", { query });
}

function onPath(name: string): Promise<string | undefined> {
  return first((process.env.PATH ?? "").split(delimiter).filter(isAbsolute).map((folder) => join(folder, name)));
}

async function first(paths: string[]): Promise<string | undefined> {
  for (const path of paths) if (await runs(path)) return path;
  return undefined;
}

async function runs(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(() => true, () => false);
}
