/** The way out of a page: messages to the extension, and a small state that survives hiding. */

/** Give what sends; `S` is what is kept while the view is hidden. */
export function host<M, S>(): { send: (message: M) => void; kept: () => S | undefined; keep: (state: S) => void } {
  const api = acquireVsCodeApi<S>();
  return { send: (message) => api.postMessage(message), kept: () => api.getState(), keep: (state) => void api.setState(state) };
}
