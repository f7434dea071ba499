/** What can go wrong, as the daemon says it. */

/**
 * The daemon answered with an error; `message` says what to do about it.
 *
 * `code` is JSON-RPC's, `kind` tells apart what shares a code, `data` is all that came with it.
 */
export class SidecarError extends Error {
  override readonly name: string = "SidecarError";

  constructor(
    readonly code: number,
    readonly kind: string,
    message: string,
    readonly data: Record<string, unknown> = {},
  ) {
    super(message);
  }
}

/** The daemon is gone, or what it sent could not be read: nothing will be answered any more. */
export class Disconnected extends SidecarError {
  override readonly name = "Disconnected";

  constructor(message: string) {
    super(0, "disconnected", message);
  }
}
