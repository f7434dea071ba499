/** The chat view. */

import type { ExtensionContext } from "vscode";
import type { Daemon } from "../daemon";
import type { Sessions } from "../sessions";

export function registerChat(_context: ExtensionContext, _daemon: Daemon, _sessions: Sessions): void {}
