// A session by the TypeScript SDK, which checks what it gets against its own schema.
// Usage: node acp_client.mjs SDK_ENTRY WORKSPACE COMMAND...; prints one JSON object.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [entry, cwd, command, ...args] = process.argv.slice(2);
const acp = await import(pathToFileURL(entry).href);
const daemon = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const stream = acp.ndJsonStream(Writable.toWeb(daemon.stdin), Readable.toWeb(daemon.stdout));
const { agent, client: own } = acp.methods;
const updates = [];
let asked = 0;

const app = acp
  .client({ name: "test" })
  .onRequest(own.session.requestPermission, ({ params }) => {
    asked += 1;
    return { outcome: { outcome: "selected", optionId: params.options[0].optionId } };
  })
  .onNotification(own.session.update, ({ params }) => {
    updates.push(params.update);
  });

await app.connectWith(stream, async (context) => {
  const initialized = await context.request(agent.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientCapabilities: { session: { compaction: {}, notices: {} } },
    _meta: { sidecar: { model: "offline", workspaceTrusted: true } },
  });
  const { sessionId } = await context.request(agent.session.new, { cwd, mcpServers: [] });
  const say = (text) =>
    context.request(agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  const edited = await say("replace `Hello` with `Good day` in main.py");
  for (let turn = 0; turn < 4; turn++) await say("read long.txt");
  await say("/compact");
  const { sessions } = await context.request(agent.session.list, {});
  const kinds = [...new Set(updates.map((one) => one.sessionUpdate))].sort();
  const compaction = updates.find((one) => one.sessionUpdate === "compaction_update");
  console.log(
    JSON.stringify({
      version: initialized.protocolVersion,
      stop: edited.stopReason,
      asked,
      kinds,
      compaction: compaction?.status,
      sessions: sessions.length,
    }),
  );
});
daemon.stdin.end();
