/** A typed client for the Sidecar daemon: `connect` starts one and speaks to it. */

export type { Callbacks, Tool } from "./callbacks.js";
export { Client } from "./client.js";
export { type ConnectOptions, connect } from "./connect.js";
export { Disconnected, SidecarError } from "./errors.js";
export * from "./protocol.js";
