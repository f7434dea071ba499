/** Starts a daemon, greets it, and sees to it that it ends. */

import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { once } from "node:events";
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
  const [program = "", ...rest] = command;
  const stdio: StdioOptions = ["pipe", "pipe", stderr];
  const daemon = spawn(program, rest, { env: { ...process.env, ...env }, stdio });
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

interface Greeted {
  version: string;
  capabilities: ServerCapabilities;
}

async function greet(connection: MessageConnection, callbacks: Callbacks, options: InitializationOptions): Promise<Greeted> {
  const params = {
    processId: process.pid,
    clientInfo: { name: "sidecar-client" },
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
