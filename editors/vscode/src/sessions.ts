/** The session of this window: remembered with the workspace, opened again after a reload or restart. */

import type { ConfigOption, SessionNewParams } from "sidecar-protocol";
import { type Disposable, EventEmitter, l10n, type Memento } from "vscode";
import type { Daemon } from "./daemon";
import type { Draft, Picture } from "./views/messages";

const KEY = "sidecar.session";
const UNKNOWN_SESSION = -32010;

export class Sessions implements Disposable {
  private readonly changes = new EventEmitter<string>();
  private readonly opens = new EventEmitter<string>();
  private readonly prompts = new EventEmitter<Draft>();

  /** The session's id; undefined until the first is open. */
  current: string | undefined;
  private wanted: string | undefined;
  /** Model, policy and so on, as they are now. */
  options: ConfigOption[] = [];
  /** Another window writes this session: here it can only be read. */
  readOnly = false;
  private opening: Promise<void> = Promise.resolve();
  /**
   * Fired with the id before the session's history is replayed as updates, after a restart of the
   * daemon too: clear what is shown of the session before.
   */
  readonly onChange = this.changes.event;
  /** Fired when the history was replayed, and when `options` changed. */
  readonly onReady = this.opens.event;
  /** Fired with what belongs into the chat's input: a rolled-back prompt, a handoff's draft. */
  readonly onDraft = this.prompts.event;

  constructor(
    private readonly daemon: Daemon,
    private readonly memory: Memento,
    readonly cwd: string,
  ) {}

  /** Open the session that was open last, or a new one: when the daemon is ready. */
  async resume(): Promise<void> {
    const last = this.current ?? this.memory.get<string>(KEY);
    if (last === undefined) return this.create();
    try {
      await this.open(last);
    } catch (error) {
      if ((error as { code?: number }).code !== UNKNOWN_SESSION) throw error;
      await this.create();
    }
  }

  /** Open a session; its history comes as updates. One after the other, so that two histories never mix. */
  open(id: string): Promise<void> {
    this.wanted = id;
    // Another may have been chosen while this one waited.
    this.opening = this.opening.catch(() => {}).then(() => (this.wanted === id ? this.load(id) : undefined));
    return this.opening;
  }

  private async load(id: string): Promise<void> {
    await this.become(id);
    const { readOnly, configOptions } = await this.daemon.request("session/load", { sessionId: id, cwd: this.cwd, replay: true });
    this.readOnly = readOnly;
    this.configured(configOptions ?? []);
  }

  async create(params: Omit<SessionNewParams, "cwd"> = {}): Promise<void> {
    const { sessionId, configOptions } = await this.daemon.request("session/new", { ...params, cwd: this.cwd });
    this.wanted = sessionId;
    this.readOnly = false;
    await this.become(sessionId);
    this.configured(configOptions);
  }

  /** Give the id of the session, for a request. Throws while none is open. */
  id(): string {
    if (!this.current) throw new Error(l10n.t("No session is open yet. Try again when the daemon is ready."));
    return this.current;
  }

  /** Put a message into the chat's input. */
  draft(text: string, pictures: Picture[] = []): void {
    this.prompts.fire({ text, pictures });
  }

  /** Take the options that `session/set_config_option` or an update gave. */
  configured(options: ConfigOption[]): void {
    this.options = options;
    if (this.current) this.opens.fire(this.current);
  }

  dispose(): void {
    for (const emitter of [this.changes, this.opens, this.prompts]) emitter.dispose();
  }

  private async become(id: string): Promise<void> {
    this.current = id;
    await this.memory.update(KEY, id);
    this.changes.fire(id);
  }
}
