/** The daemon, by this window's process: started, restarted and spoken to through vscode-languageclient. */

import type {
  ClientNotifications,
  DaemonNotifications,
  DaemonRequests,
  Meter,
  SessionRequestPermissionParams,
  SessionRequestPermissionResult,
  SessionUpdateParams,
} from "sidecar-protocol";
import { type CancellationToken, Disposable, EventEmitter, l10n, type LogOutputChannel, Uri, workspace } from "vscode";
import {
  type ApplyWorkspaceEditParams,
  type DynamicFeature,
  LanguageClient,
  type LanguageClientOptions,
  State,
  type StaticFeature,
  TransportKind,
} from "vscode-languageclient/node";
import type { Command } from "./command";

export type DaemonState = "starting" | "ready" | "stopped" | "failed";

/** Gives the id of the option that the user chose, or undefined when the question was dismissed. */
export type PermissionHandler = (
  params: SessionRequestPermissionParams,
  token: CancellationToken,
) => Promise<string | undefined>;

/** LSP's client for documents alone: the daemon's commands for editors without a plugin are not ours. */
class Client extends LanguageClient {
  override registerFeature(feature: StaticFeature | DynamicFeature<unknown>): void {
    const method = "registrationType" in feature ? feature.registrationType.method : undefined;
    if (!method || method.startsWith("textDocument/did")) super.registerFeature(feature);
  }
}

export class Daemon implements Disposable {
  private readonly updates = new EventEmitter<SessionUpdateParams>();
  private readonly meters = new EventEmitter<Meter>();
  private readonly states = new EventEmitter<{ state: DaemonState; message: string }>();
  private readonly subscriptions: Disposable[] = [this.updates, this.meters, this.states];
  private client: LanguageClient | undefined;
  private permission: PermissionHandler | undefined;
  private starting: Promise<void> | undefined;
  private startedAs = "";

  /** Everything that happens in this window's sessions, replayed history too. */
  readonly onUpdate = this.updates.event;
  readonly onMeter = this.meters.event;
  /** `message` is for people: why it failed, what to do. */
  readonly onState = this.states.event;
  state: DaemonState = "stopped";

  constructor(private readonly log: LogOutputChannel) {}

  /** Whether it runs as this command with these options: several reasons to start it may come for one change. */
  runs(command: Command, options: object): boolean {
    return this.state === "ready" && this.startedAs === JSON.stringify([command, options]);
  }

  /** Start it with these `initializationOptions`. Resolves when it is ready. */
  start(command: Command, options: object): Promise<void> {
    this.starting = this.begin(command, options);
    return this.starting;
  }

  private async begin(command: Command, options: object): Promise<void> {
    await this.stop();
    this.startedAs = JSON.stringify([command, options]);
    const client = new Client(
      "sidecar",
      "Sidecar",
      { command: command.path, args: command.args, transport: TransportKind.stdio },
      clientOptions(this.log, options),
    );
    this.client = client;
    client.registerFeature(CAPABILITIES);
    this.listen(client);
    await client.start();
  }

  /** Stop it if it runs, and say why there is none. */
  async fail(message: string): Promise<void> {
    await this.stop();
    this.become("failed", message);
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (!client) return;
    this.become("stopped", "");
    await client.dispose();
  }

  /** Send a request; while the daemon starts it waits. Rejects with a ResponseError (code, message, data). */
  async request<M extends keyof DaemonRequests>(
    method: M,
    params: DaemonRequests[M]["params"],
    token?: CancellationToken,
  ): Promise<DaemonRequests[M]["result"]> {
    // Why it did not start is told by whoever started it.
    await this.starting?.catch(() => undefined);
    if (!this.client) throw new Error(l10n.t("Sidecar's daemon is not running. See Sidecar: Show Log."));
    // An absent token would go along as a second parameter.
    return token ? this.client.sendRequest(method, params, token) : this.client.sendRequest(method, params);
  }

  async notify<M extends keyof DaemonNotifications>(method: M, params: DaemonNotifications[M]["params"]): Promise<void> {
    await this.client?.sendNotification(method, params);
  }

  /** Let questions be answered by `handler`; the newest one registered is asked. */
  onPermission(handler: PermissionHandler): Disposable {
    const before = this.permission;
    this.permission = handler;
    return new Disposable(() => {
      this.permission = before;
    });
  }

  /** Listen to any other notification: session/changed, session/retrying, daemon/statusChanged. */
  onNotification<M extends keyof ClientNotifications>(
    method: M,
    listener: (params: ClientNotifications[M]["params"]) => void,
  ): Disposable {
    const listeners = this.others.get(method) ?? new Set();
    this.others.set(method, listeners.add(listener as (params: unknown) => void));
    return new Disposable(() => listeners.delete(listener as (params: unknown) => void));
  }
  private readonly others = new Map<string, Set<(params: unknown) => void>>();

  dispose(): void {
    void this.stop();
    Disposable.from(...this.subscriptions).dispose();
  }

  private listen(client: LanguageClient): void {
    client.onDidChangeState(({ newState }) => {
      if (client !== this.client && newState !== State.Stopped) return;
      this.become(STATES[newState], newState === State.StartFailed ? l10n.t("The daemon did not start. See the log.") : "");
    });
    client.onNotification("session/update", (params: SessionUpdateParams) => this.updates.fire(params));
    client.onNotification("context/meterChanged", (params: Meter) => this.meters.fire(params));
    for (const method of ["session/changed", "session/retrying", "daemon/statusChanged"]) {
      client.onNotification(method, (params: unknown) => {
        for (const listener of this.others.get(method) ?? []) listener(params);
      });
    }
    client.onRequest(
      "session/request_permission",
      async (params: SessionRequestPermissionParams, token: CancellationToken): Promise<SessionRequestPermissionResult> => {
        const optionId = await this.permission?.(params, token);
        // A window that goes, or begins anew, answers nothing: the question waits for the next.
        if (client !== this.client) return new Promise(() => {});
        return { outcome: optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId } };
      },
    );
  }

  private become(state: DaemonState, message: string): void {
    this.state = state;
    this.states.fire({ state, message });
  }
}

const STATES: Record<State, DaemonState> = {
  [State.Starting]: "starting",
  [State.Running]: "ready",
  [State.Stopped]: "stopped",
  [State.StartFailed]: "failed",
};

/** What this client does for the daemon beyond LSP. Unsaved buffers come by didOpen, so no fs. */
const CAPABILITIES: StaticFeature = {
  fillClientCapabilities(capabilities) {
    capabilities.experimental = { sidecar: { requestPermission: true } };
  },
  initialize() {},
  getState: () => ({ kind: "static" }),
  clear() {},
};

function clientOptions(log: LogOutputChannel, options: object): LanguageClientOptions {
  const folder = workspace.workspaceFolders?.[0];
  return {
    documentSelector: [{ scheme: "file" }],
    // What the editor reads without showing it is not the user's.
    textSynchronization: { delayOpenNotifications: true },
    outputChannel: log,
    initializationOptions: options,
    middleware: {
      workspace: {
        async handleApplyEdit(params, next) {
          const clean = saved(params);
          const result = await next(params, undefined as never);
          // A document without unsaved changes stays so.
          for (const document of clean) await document.save();
          return result;
        },
      },
    },
    ...(folder && { workspaceFolder: folder }),
  };
}

function saved(params: ApplyWorkspaceEditParams) {
  const meant = new Set(Object.keys(params.edit.changes ?? {}).map((uri) => Uri.parse(uri).toString()));
  return workspace.textDocuments.filter((document) => meant.has(document.uri.toString()) && !document.isDirty);
}
