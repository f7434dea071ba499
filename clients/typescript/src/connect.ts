/** Starts a daemon, greets it, and sees to it that it ends. */

import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { basename, delimiter, isAbsolute, join } from "node:path";
import { createMessageConnection, type MessageConnection, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";
import { type Callbacks, capabilities, listen } from "./callbacks.js";
import { Client, ours } from "./client.js";
import type { InitializationOptions, ServerCapabilities } from "./protocol.js";

const COMMAND = ["sidecar", "serve", "--stdio"];
/** A callback that throws stops nothing, but is told. */
const LOG = { error: (text: string) => console.error(text), warn() {}, info() {}, log() {} };
/** Milliseconds for the daemon to answer `shutdown`, and then to end, before it is killed. */
const PATIENCE = 5000;

export interface ConnectOptions extends Callbacks {
  /** `initializationOptions` of `initialize`. */
  options?: InitializationOptions;
  /** Added to this process's environment. */
  env?: Record<string, string>;
  /** Where the daemon's log goes, as `spawn` takes it; to ours when left out. */
  stderr?: "inherit" | "ignore" | number;
}

/**
 * Start a daemon and speak to it; `close()`, or `await using`, shuts it down.
 *
 * What has no callback is not announced to the daemon. Rejects when there is no such command, or
 * when the daemon refuses to start.
 */
export async function connect(command: readonly string[] = COMMAND, given: ConnectOptions = {}): Promise<Client> {
  const { options = {}, env, stderr = "inherit", ...callbacks } = given;
  const [name = "", ...rest] = command;
  const stdio: StdioOptions = ["pipe", "pipe", stderr];
  const variables: NodeJS.ProcessEnv = { ...process.env, ...env };
  const daemon = spawn(await located(name, variables), rest, { env: variables, stdio });
  await once(daemon, "spawn");
  const { stdin, stdout } = daemon;
  if (!stdin || !stdout) throw new Error("the daemon has no pipes");
  const connection = createMessageConnection(new StreamMessageReader(stdout), new StreamMessageWriter(stdin), LOG);
  // Writing to a daemon that has ended is told by the pipe, and by whoever waits for an answer.
  stdin.on("error", () => connection.dispose());
  connection.onClose(() => connection.dispose());
  listen(connection, callbacks);
  connection.listen();
  let ended: Promise<void> | undefined;
  const end = () => (ended ??= stop(daemon, connection));
  try {
    const greeted = await greet(connection, callbacks, options);
    return new Client(connection, end, greeted.version, greeted.capabilities);
  } catch (error) {
    await end();
    throw ours(error);
  }
}

/** A program in an absolute folder of PATH: a relative one would be a workspace's. */
async function located(name: string, { PATH = "" }: NodeJS.ProcessEnv): Promise<string> {
  if (basename(name) !== name || process.platform === "win32") return name;
  for (const folder of PATH.split(delimiter).filter(isAbsolute)) {
    const path = join(folder, name);
    if (await access(path, constants.X_OK).then(() => true, () => false)) return path;
  }
  throw Object.assign(new Error(`spawn ${name} ENOENT`), { code: "ENOENT" });
}

interface Greeted {
  version: string;
  capabilities: ServerCapabilities;
}

async function greet(connection: MessageConnection, callbacks: Callbacks, options: InitializationOptions): Promise<Greeted> {
  const params = {
    processId: process.pid,
    clientInfo: { name: "sidecard-client" },
    rootUri: null,
    capabilities: capabilities(callbacks),
    initializationOptions: options,
  };
  const result = await connection.sendRequest<{
    serverInfo?: { version?: string };
    capabilities: { experimental: { sidecar: ServerCapabilities } };
  }>("initialize", params);
  await connection.sendNotification("initialized", {});
  return { version: result.serverInfo?.version ?? "", capabilities: result.capabilities.experimental.sidecar };
}

/** Shut the daemon down as LSP says; kill it when it does not heed. */
async function stop(daemon: ChildProcess, connection: MessageConnection): Promise<void> {
  const running = () => daemon.exitCode === null && daemon.signalCode === null;
  const exited = running() ? once(daemon, "exit") : Promise.resolve();
  await within(farewell(connection));
  daemon.stdin?.end();
  await within(exited);
  if (running()) daemon.kill("SIGKILL");
  await exited;
  connection.dispose();
}

async function farewell(connection: MessageConnection): Promise<void> {
  try {
    await connection.sendRequest("shutdown", {});
    await connection.sendNotification("exit", {});
  } catch {
    // It is gone already.
  }
}

async function within(promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((done) => {
    timer = setTimeout(done, PATIENCE);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
