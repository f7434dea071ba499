/** Where the daemon is: what the setting names, else PATH, else where uv puts tools; or installs it. */

import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { commands, env, ProgressLocation, Uri, window, workspace } from "vscode";

const run = promisify(execFile);
const NAME = process.platform === "win32" ? "sidecar.exe" : "sidecar";
const UV = process.platform === "win32" ? "uv.exe" : "uv";
/** Milliseconds that an installation may take. */
const PATIENCE = 600_000;

export interface Command {
  path: string;
  args: string[];
}

/** Give the command to start, or undefined when there is none; the user was told then. */
export async function findDaemon(extension: Uri): Promise<Command | undefined> {
  const set = workspace.getConfiguration("sidecar").get<string>("path")?.trim();
  if (set) {
    if (await runs(set)) return { path: set, args: ["serve"] };
    return refuse(`The setting sidecar.path names ${set}, which cannot be run.`);
  }
  const found = (await onPath(NAME)) ?? (await first([join(homedir(), ".local", "bin", NAME)]));
  return found ? { path: found, args: ["serve"] } : offer(extension);
}

async function offer(extension: Uri): Promise<Command | undefined> {
  const uv = (await onPath(UV)) ?? (await first([join(homedir(), ".local", "bin", UV), join(homedir(), ".cargo", "bin", UV)]));
  const wheel = (await readdir(join(extension.fsPath, "dist"))).find((name) => name.endsWith(".whl"));
  if (!uv || !wheel) {
    return refuse("Sidecar's daemon was not found on PATH. Install it, or install uv (docs.astral.sh/uv), or set sidecar.path.");
  }
  const install = "Install with uv";
  const text = "Sidecar's daemon was not found on PATH. It can be installed for you with uv.";
  const chosen = await window.showInformationMessage(text, install, "Open Settings");
  if (chosen === "Open Settings") await openSettings();
  if (chosen !== install) return undefined;
  try {
    return await window.withProgress({ location: ProgressLocation.Notification, title: "Installing Sidecar's daemon" }, async () => {
      await run(uv, ["tool", "install", "--force", join(extension.fsPath, "dist", wheel)], { timeout: PATIENCE });
      const { stdout } = await run(uv, ["tool", "dir", "--bin"], { timeout: PATIENCE });
      return { path: join(stdout.trim(), NAME), args: ["serve"] };
    });
  } catch (error) {
    return refuse(`uv could not install Sidecar's daemon: ${error instanceof Error ? error.message : error}`);
  }
}

async function refuse(text: string): Promise<undefined> {
  const chosen = await window.showErrorMessage(text, "Open Settings", "About uv");
  if (chosen === "Open Settings") await openSettings();
  if (chosen === "About uv") await env.openExternal(Uri.parse("https://docs.astral.sh/uv/"));
  return undefined;
}

async function openSettings(): Promise<void> {
  await commands.executeCommand("workbench.action.openSettings", "sidecar.path");
}

function onPath(name: string): Promise<string | undefined> {
  return first((process.env.PATH ?? "").split(delimiter).filter(Boolean).map((folder) => join(folder, name)));
}

async function first(paths: string[]): Promise<string | undefined> {
  for (const path of paths) if (await runs(path)) return path;
  return undefined;
}

async function runs(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(() => true, () => false);
}
