// The client against a process that answers with the golden messages, and says back what it was sent.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { connect, Disconnected, SidecarError } from "sidecard-client";

const ROOT = join(import.meta.dirname, "../../..");
const GOLDEN = join(ROOT, "protocol/golden");
const COMMAND = ["python3", join(ROOT, "tests/clients/fake_daemon.py")];
const LIMIT = { timeout: 20_000 };

const golden = (name) => JSON.parse(readFileSync(join(GOLDEN, `${name}.json`), "utf8")).message;

/** Run a block with a client for the fake daemon, and end both. */
async function using(given, block) {
  const client = await connect(COMMAND, given);
  try {
    return await block(client);
  } finally {
    await client.close();
  }
}

const received = async (client, method) => (await client.request("fake/received", {})).filter((m) => m.method === method).map((m) => m.params);
const ask = (client, method, params) => client.request("fake/ask", { method, params });

test("starts and ends as LSP says", LIMIT, async () => {
  const client = await connect(COMMAND, { options: { model: "offline", workspaceTrusted: true } });
  assert.equal(client.version, "9.9");
  assert.deepEqual(client.capabilities, { protocolVersion: 1, features: ["session/new"] });
  const [params] = await received(client, "initialize");
  assert.deepEqual(params.initializationOptions, { model: "offline", workspaceTrusted: true });
  const { fs, toolCall } = params.capabilities.experimental.sidecar;
  assert.deepEqual([fs, toolCall], [{ readTextFile: false, writeTextFile: false }, false]);
  assert.deepEqual(await received(client, "initialized"), [{}]);
  await client.close();
  await assert.rejects(client.daemon.status(), Disconnected);
});

test("every method sends what the protocol says", LIMIT, () =>
  using({}, async (client) => {
    const tool = { name: "lookup", description: "d", inputSchema: { type: "object" }, kind: "read" };
    await client.session.new("/w", { title: "t", window: 1000, tools: [tool] });
    const loaded = await client.session.load("s", { after: "part_1" });
    const listed = await client.session.list({ limit: 3 });
    const hits = await client.session.search("exit code", { cursor: "1.ses_1", limit: 3 });
    const renamed = await client.session.rename("s", "Another");
    await client.session.close("s");
    await client.session.delete("s");
    const options = await client.session.setConfigOption("s", "autoCompact", false);
    const result = await client.session.prompt("s", "hello", { context: { "open-files": [] }, expectedRevision: 4 });
    const found = await client.session.findFiles("s", "ab", { limit: 3 });
    const meter = await client.context.meter("s");
    await client.context.breakdown("s");
    const recalled = await client.context.recall("s", "part_1", { pattern: "^E" });
    await client.context.preview("s", "hello");
    await client.facts.list({ query: "red" });
    const status = await client.daemon.status();
    await client.context.compact("s", { keep: ["part_1"], dryRun: true });
    await client.context.undoCompaction("s", "cmp_1");
    await client.context.pin("s", "part_1", true);
    await client.checkpoint.list("s");
    await client.checkpoint.diff("s", "cp_1", { path: "a" });
    await client.checkpoint.restore("s", { checkpointId: "cp_1", onConflict: "merge" });
    await client.checkpoint.redo("s");
    await client.session.fork("s", "msg_1");
    await client.session.handoff("s", "go on", { continue: true });
    await client.session.cancel("s");
    const everything = await client.request("fake/received", {});
    assert.equal(loaded.readOnly, false);
    assert.equal(listed.sessions[0].title, "Red test");
    assert.equal(hits.sessions[0].hits[1].partId, "part_07");
    assert.equal(renamed.title, "The parser's tests");
    assert.equal(options.configOptions[0].id, "model");
    assert.equal(result.stopReason, "error");
    assert.deepEqual([meter.used, result.meter.used], [20500, 20500]);
    assert.deepEqual(found.files, ["src/session methods.py", "src/session_map.py"]);
    assert.equal(recalled.nextOffset, 4096);
    assert.equal(status.sessions[0].sessionId, "ses_01k9f3");
    const ours = everything.filter(({ method }) => /^(session|context|checkpoint|facts|daemon)\//.test(method));
    assert.deepEqual(Object.fromEntries(ours.map(({ method, params }) => [method, params])), {
      "session/new": { cwd: "/w", title: "t", window: 1000, tools: [tool] },
      "session/load": { sessionId: "s", replay: true, after: "part_1" },
      "session/list": { limit: 3 },
      "session/search": { query: "exit code", cursor: "1.ses_1", limit: 3 },
      "session/rename": { sessionId: "s", title: "Another" },
      "session/close": { sessionId: "s" },
      "session/delete": { sessionId: "s" },
      "session/set_config_option": { sessionId: "s", configId: "autoCompact", value: false },
      "session/prompt": { sessionId: "s", prompt: [{ type: "text", text: "hello" }], context: { "open-files": [] }, expectedRevision: 4 },
      "session/findFiles": { sessionId: "s", query: "ab", limit: 3 },
      "context/meter": { sessionId: "s" },
      "context/breakdown": { sessionId: "s" },
      "context/recall": { sessionId: "s", partId: "part_1", pattern: "^E" },
      "context/preview": { sessionId: "s", prompt: [{ type: "text", text: "hello" }] },
      "facts/list": { query: "red" },
      "daemon/status": {},
      "context/compact": { sessionId: "s", keep: ["part_1"], dryRun: true },
      "context/undoCompaction": { sessionId: "s", compactionId: "cmp_1" },
      "context/pin": { sessionId: "s", partId: "part_1", pinned: true },
      "checkpoint/list": { sessionId: "s" },
      "checkpoint/diff": { sessionId: "s", from: "cp_1", path: "a" },
      "checkpoint/restore": { sessionId: "s", scope: "both", checkpointId: "cp_1", onConflict: "merge" },
      "checkpoint/redo": { sessionId: "s" },
      "session/fork": { sessionId: "s", atMessageId: "msg_1" },
      "session/handoff": { sessionId: "s", goal: "go on", continue: true },
      "session/cancel": { sessionId: "s" },
    });
  }));

test("golden messages pass as they are, both ways", LIMIT, () =>
  using({}, async (client) => {
    const names = readdirSync(GOLDEN).filter((name) => name.endsWith(".params.json")).map((name) => name.replace(".params.json", ""));
    let seen = 0;
    for (const name of names) {
      const { id, method, params } = golden(`${name}.params`);
      const answers = readdirSync(GOLDEN).includes(`${name}.result.json`);
      if (id === undefined || !answers) continue;
      assert.deepEqual(await client.request(method, params), golden(`${name}.result`).result);
      assert.deepEqual((await received(client, method)).at(-1), params);
      seen += 1;
    }
    assert.ok(seen > 20, `${seen} of them`);
  }));

test("errors are typed", LIMIT, () =>
  using({}, async (client) => {
    await assert.rejects(client.request("no/such", {}), (error) => {
      assert.ok(error instanceof SidecarError && !(error instanceof Disconnected));
      assert.deepEqual([error.code, error.kind, error.message], [-32601, "unknown_method", "there is no no/such"]);
      assert.deepEqual(error.data, { kind: "unknown_method", extra: [1] });
      return true;
    });
  }));

test("tools get their input as it was written, and their failures are told", LIMIT, async () => {
  const call = golden("tool-call.params").params;
  const inputs = [];
  const tools = {
    lookup: async (input) => (inputs.push(input), { content: [], metadata: { "exit-code": null, _x: input } }),
    outline: async () => "main.py",
    broken: async () => {
      throw new Error("no index");
    },
  };
  await using({ tools }, async (client) => {
    const metadata = { "exit-code": null, _x: call.input };
    assert.deepEqual((await ask(client, "tool/call", call)).result, { content: [], metadata });
    assert.deepEqual(inputs, [call.input]);
    const text = (words) => [{ type: "text", text: words }];
    assert.deepEqual((await ask(client, "tool/call", { ...call, name: "outline" })).result, { content: text("main.py") });
    assert.deepEqual((await ask(client, "tool/call", { ...call, name: "broken" })).result, { content: text("broken failed: no index"), isError: true });
    assert.equal((await ask(client, "tool/call", { ...call, name: "nothing" })).error.code, -32602);
  });
});

test("a cancelled tool stops", LIMIT, async () => {
  let client;
  const slow = async (_, signal) => {
    const stopped = new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    await client.notify("fake/started", {});
    await stopped;
  };
  client = await connect(COMMAND, { tools: { slow } });
  const params = { sessionId: "s", callId: "c", name: "slow", input: {} };
  const reply = await client.request("fake/ask_and_cancel", { method: "tool/call", params });
  await client.close();
  assert.deepEqual([reply.error.code, reply.error.data], [-32800, { kind: "cancelled" }]);
});

test("permission is an option or a dismissal", LIMIT, async () => {
  const question = golden("session-request_permission.params").params;
  const answers = [question.options[0].optionId, undefined];
  await using({ onPermission: async () => answers.shift() }, async (client) => {
    const [first, second] = [await ask(client, "session/request_permission", question), await ask(client, "session/request_permission", question)];
    assert.deepEqual(first.result, golden("session-request_permission.result").result);
    assert.deepEqual(second.result, golden("session-request_permission.cancelled.result").result);
  });
});

test("files and edits", LIMIT, async () => {
  const texts = new Map([["/a", "old"]]);
  const given = {
    readTextFile: async ({ path }) => texts.get(path),
    writeTextFile: async ({ path, content }) => void texts.set(path, content),
    applyEdit: async (params) => "edit" in params,
  };
  await using(given, async (client) => {
    const [params] = await received(client, "initialize");
    assert.deepEqual(params.capabilities.workspace, { applyEdit: true });
    assert.deepEqual(params.capabilities.experimental.sidecar.fs, { readTextFile: true, writeTextFile: true });
    assert.deepEqual((await ask(client, "fs/write_text_file", { sessionId: "s", path: "/a", content: "new" })).result, {});
    assert.deepEqual((await ask(client, "fs/read_text_file", { sessionId: "s", path: "/a" })).result, { content: "new" });
    assert.deepEqual((await ask(client, "workspace/applyEdit", { edit: {} })).result, { applied: true });
  });
});

test("what has no callback is refused", LIMIT, () =>
  using({}, async (client) => {
    for (const method of ["tool/call", "session/request_permission", "other/thing"]) {
      const { error } = await ask(client, method, {});
      assert.deepEqual([error.code, error.data.kind], [-32601, "unknown_method"], method);
    }
  }));

test("notifications reach their callbacks in order", LIMIT, async () => {
  const [updates, meters, others] = [[], [], []];
  const given = {
    onUpdate: (params) => updates.push(params.update.sessionUpdate),
    onMeter: (meter) => meters.push(meter.zone),
    onNotification: (...told) => others.push(told),
  };
  const told = ["session-update.agent_message_chunk", "session-update.tool_call", "context-meterChanged", "session-changed"];
  const messages = told.map((name) => golden(`${name}.params`)).map(({ method, params }) => ({ method, params }));
  await using(given, (client) => client.request("fake/tell", { messages }));
  assert.deepEqual([updates, meters], [["agent_message_chunk", "tool_call"], ["green"]]);
  assert.deepEqual(others, [["session/changed", messages[3].params]]);
});

test("aborting a call cancels the request", LIMIT, () =>
  using({}, async (client) => {
    const aborted = new AbortController();
    const hanging = client.request("fake/hang", {}, { signal: aborted.signal });
    const hung = (await client.request("fake/received", {})).find(({ method }) => method === "fake/hang");
    aborted.abort();
    assert.deepEqual(await received(client, "$/cancelRequest"), [{ id: hung.id }]);
    const gone = assert.rejects(hanging, Disconnected);
    await client.close();
    await gone;
  }));

test("a daemon that dies leaves nobody waiting", LIMIT, async () => {
  await using({}, (client) => assert.rejects(client.request("fake/die", {}), Disconnected));
  await assert.rejects(connect([...COMMAND, "dead"]), Disconnected);
  await assert.rejects(connect(["no-such-daemon"]), { code: "ENOENT" });
  const folder = await mkdtemp(join(tmpdir(), "trap-"));
  await writeFile(join(folder, "a-daemon"), "#!/bin/sh\n", { mode: 0o755 });
  const before = process.cwd();
  process.chdir(folder);
  await assert.rejects(connect(["a-daemon"], { env: { PATH: ".:/usr/bin:" } }), { code: "ENOENT" });
  process.chdir(before);
});

test("a daemon that does not heed is killed", LIMIT, async () => {
  const client = await connect([...COMMAND, "deaf"]);
  const { pid } = await client.request("fake/pid", {});
  await client.close();
  assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
});

test("documents are LSP documents", LIMIT, () =>
  using({}, async (client) => {
    const uri = pathToFileURL("/w/a b.py").href;
    await client.document.open("/w/a b.py", "1", { language: "python" });
    await client.document.change("/w/a b.py", "2", 2);
    await client.document.close("/w/a b.py");
    assert.deepEqual(await received(client, "textDocument/didOpen"), [{ textDocument: { uri, languageId: "python", version: 1, text: "1" } }]);
    assert.deepEqual(await received(client, "textDocument/didChange"), [{ textDocument: { uri, version: 2 }, contentChanges: [{ text: "2" }] }]);
    assert.deepEqual(await received(client, "textDocument/didClose"), [{ textDocument: { uri } }]);
  }));

test("it can be required as well as imported", LIMIT, () => {
  const required = createRequire(import.meta.url)("sidecard-client");
  assert.deepEqual(Object.keys(required).sort(), ["Client", "Disconnected", "ERRORS", "PROTOCOL_VERSION", "SidecarError", "connect"]);
});
