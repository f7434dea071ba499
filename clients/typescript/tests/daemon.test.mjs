// The client against the real daemon with the offline model, and its page of usage, run as it stands.
// SIDECAR_COMMAND is a JSON list that starts the daemon; without it `sidecar` is on PATH.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { connect, SidecarError } from "sidecard-client";

const HERE = join(import.meta.dirname, "..");
const COMMAND = JSON.parse(process.env.SIDECAR_COMMAND ?? '["sidecar", "serve", "--stdio"]');
const LIMIT = { timeout: 60_000 };

let folder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sidecar-client-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("a session from start to end", LIMIT, async () => {
  const [updates, meters, asked] = [[], [], []];
  const client = await connect(COMMAND, {
    options: { model: "offline", workspaceTrusted: true },
    env: { SIDECAR_DATA_DIR: join(folder, "data") },
    tools: { lookup: async (input) => (asked.push(input), "found") },
    onUpdate: (params) => updates.push(params.update),
    onMeter: (meter) => meters.push(meter),
  });
  try {
    assert.ok(client.capabilities.features.includes("session/prompt"));
    const lookup = { name: "lookup", description: "Looks up.", inputSchema: { type: "object" }, kind: "search" };
    const { sessionId } = await client.session.new(folder, { tools: [lookup] });
    const odd = { "file-path": 1, class: null, _x: { jsonrpc: "2.0" } };
    const result = await client.session.prompt(sessionId, `call lookup ${JSON.stringify(odd)}`);
    assert.deepEqual([result.stopReason, asked], ["end_turn", [odd]]);
    assert.ok(updates.some(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk"));
    assert.equal(meters.at(-1).used, result.meter.used);
    assert.ok((await client.context.meter(sessionId)).regions.toolResults > 0);
    const { segments } = await client.context.breakdown(sessionId);
    assert.equal(segments.reduce((sum, { tokens }) => sum + tokens, 0), result.meter.used);
    const part = updates.findLast(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk")._meta.sidecar.partId;
    const recalled = await client.context.recall(sessionId, part, { limit: 4 });
    assert.deepEqual([recalled.content, recalled.nextOffset], ["Done", 4]);
    const preview = await client.context.preview(sessionId, "What then?");
    assert.match(JSON.stringify(preview.request.messages.at(-1)), /What then\?/);
    await assert.rejects(client.context.compact(sessionId, { strategy: "economic" }), /nothing worth leaving out/);
    await assert.rejects(client.request("session/unheard_of", { sessionId }), (error) => error instanceof SidecarError && error.code === -32601);
    const forked = await client.session.fork(sessionId);
    assert.equal((await client.session.list()).sessions.length, 2);
    for (const id of [sessionId, forked.sessionId]) await client.session.delete(id);
    assert.deepEqual((await client.session.list()).sessions, []);
  } finally {
    await client.close();
  }
});

test("aborting the call cancels the turn", LIMIT, async () => {
  let started;
  const begun = new Promise((done) => {
    started = done;
  });
  const lookup = (_, signal) => new Promise((_, reject) => (started(), signal.addEventListener("abort", () => reject(signal.reason))));
  const client = await connect(COMMAND, { options: { model: "offline" }, env: { SIDECAR_DATA_DIR: join(folder, "data") }, tools: { lookup } });
  try {
    const { sessionId } = await client.session.new(folder, { tools: [{ name: "lookup", description: "", inputSchema: { type: "object" }, kind: "search" }] });
    const aborted = new AbortController();
    const turn = client.session.prompt(sessionId, "call lookup {}", { signal: aborted.signal });
    await begun;
    aborted.abort();
    assert.equal((await turn).stopReason, "cancelled");
  } finally {
    await client.close();
  }
});

test("the page of usage runs as it stands", LIMIT, () => {
  const [, script] = /```js\n([^]*?)```/.exec(readFileSync(join(HERE, "README.md"), "utf8"));
  // Inside the package, so that its name is found.
  const page = join(HERE, "dist/page.mjs");
  writeFileSync(page, script);
  if (process.env.SIDECAR_COMMAND) {
    // Else it is on PATH already, and this one would start itself without end.
    mkdirSync(join(folder, "bin"));
    const quoted = COMMAND.map((word) => `'${word}'`).join(" ");
    writeFileSync(join(folder, "bin/sidecar"), `#!/bin/sh\nexec ${quoted}\n`);
    chmodSync(join(folder, "bin/sidecar"), 0o755);
  }
  writeFileSync(join(folder, "README.md"), "# Hello\n");
  const env = { ...process.env, PATH: `${folder}/bin:${process.env.PATH}`, SIDECAR_DATA_DIR: join(folder, "data") };
  const shown = execFileSync(process.execPath, [page], { cwd: folder, env, encoding: "utf8", ...LIMIT });
  assert.match(shown, /# Hello/);
  assert.match(shown, /end_turn, \d+/);
});
