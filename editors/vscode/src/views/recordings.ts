/** Recordings of other agents on this machine that are of a folder. */

import { open, readdir, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

/** Files that are looked into, the newest, and bytes of each. */
const MOST = 200;
const BEGINNING = 64 * 1024;
/** The first folder that a recording names; in a text, quotes have backslashes. */
const FOLDER = /"cwd":\s*("(?:[^"\\]|\\.)*")/;

/** `begins`: what was typed first, if its beginning has that. */
export interface Recording {
  agent: string;
  path: string;
  at: string;
  begins: string;
}

/** Those of Claude Code and Codex, the newest first. */
export async function recordings(cwd: string, env = process.env): Promise<Recording[]> {
  const claude = join(env["CLAUDE_CONFIG_DIR"] || join(homedir(), ".claude"), "projects", cwd.replace(/[^A-Za-z0-9]/g, "-"));
  const codex = join(env["CODEX_HOME"] || join(homedir(), ".codex"), "sessions");
  // Those of Claude Code's subagents lie deeper.
  const found = [...(await files(claude, "Claude Code", false)), ...(await files(codex, "Codex", true))];
  const looked = await Promise.all(found.sort((one, other) => other.at.localeCompare(one.at)).slice(0, MOST).map((one) => look(one, cwd)));
  return looked.flatMap((one) => one ?? []);
}

async function files(folder: string, agent: string, recursive: boolean): Promise<Recording[]> {
  const names = await readdir(folder, { recursive }).catch(() => []);
  const made = names.filter((name) => name.endsWith(".jsonl")).map(async (name) => {
    const path = join(folder, name);
    return { agent, path, at: (await stat(path)).mtime.toISOString(), begins: "" };
  });
  return (await Promise.allSettled(made)).flatMap((one) => (one.status === "fulfilled" ? one.value : []));
}

/** Read how it begins; nothing of another folder's, whose name there may be the same. */
async function look(one: Recording, cwd: string): Promise<Recording | undefined> {
  const read = await beginning(one.path);
  if (FOLDER.exec(read)?.[1] !== JSON.stringify(cwd)) return undefined;
  let begins = "";
  for (const said of read.split("\n").map(parsed)) {
    begins ||= text(said["type"] === "user" ? said["message"]?.content : said["payload"]?.type === "user_message" ? said["payload"].message : undefined);
  }
  return { ...one, begins };
}

async function beginning(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(BEGINNING), 0, BEGINNING, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } catch {
    return "";
  }
}

function parsed(line: string): Record<string, any> {
  try {
    const found: unknown = JSON.parse(line);
    return found instanceof Object ? found : {};
  } catch {
    return {};
  }
}

/** What was typed, without what an agent puts before it. */
function text(content: unknown): string {
  return typeof content === "string" && !content.startsWith("<") ? content : "";
}
