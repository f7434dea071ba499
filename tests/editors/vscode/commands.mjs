// The rest of what the palette offers, and what a person may run into.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { openDesk } from "./desk.mjs";
import { play } from "./play.mjs";

const given = JSON.parse(process.argv[2]);
const desk = await openDesk(given);
const { page } = desk;
const settings = join(given.server, "data/Machine/settings.json");
const SECRET = "sk-test-of-the-secret-storage";

await play(desk, {
  async "a call asks before it runs, and what was refused is not run"() {
    await desk.figures();
    await desk.send("run `echo ran > ran.txt`");
    await desk.toast("may this run?").waitFor();
    await desk.picture("permission");
    await desk.toast("may this run?").locator("a", { hasText: "Reject" }).first().click();
    await desk.idle();
    await desk.send("run `echo ran > ran.txt`");
    await desk.toast("may this run?").locator("a", { hasText: "Always allow" }).waitFor();
    // Nothing is allowed by a link that just came.
    await page.waitForTimeout(600);
    await desk.toast("may this run?").locator("a", { hasText: "Allow once" }).click();
    await desk.idle();
    assert.equal(readFileSync(join(given.workspace, "ran.txt"), "utf8"), "ran\n");
  },

  async "text that is not saved counts"() {
    await desk.open("a.txt");
    await page.locator(".editor-instance .view-lines").last().click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("typed, not saved\n");
    await desk.turn("replace `typed, not saved` with `the agent saw it` in a.txt");
    await desk.until("the edit in the editor", async () => (await desk.text()).includes("the agent saw it"));
    assert.equal(readFileSync(join(given.workspace, "a.txt"), "utf8"), "one\ntwo\nthree\n");
    assert.match(await desk.tab("a.txt").getAttribute("class"), /dirty/);
    await desk.picture("unsaved");
    await page.keyboard.press("Control+S");
  },

  async "model and policy can be switched"() {
    await desk.run("Switch Policy");
    await desk.row("evict-lru").waitFor();
    await desk.picture("policies");
    await desk.pick("evict-lru");
    await desk.run("Switch Policy");
    await desk.until("the other policy", async () => (await desk.row("evict-lru").innerText()).includes("now"));
    await page.keyboard.press("Escape");
    await desk.run("Switch Model");
    await desk.row("haiku").waitFor();
    const told = await desk.row("haiku").innerText();
    assert.match(told, /1M tokens · \$0.1 in, .* · cache 5\/60 min/);
    await desk.picture("models");
    await page.keyboard.type("offline");
    await desk.row("offline").waitFor();
    await page.keyboard.press("Escape");
  },

  async "parts can be pinned"() {
    await desk.run("Pin…");
    await desk.row("tokens").waitFor();
    await desk.picture("parts");
    await page.keyboard.press("Enter");
    await desk.run("Unpin…");
    await page.locator(".quick-input-titlebar", { hasText: "Unpin" }).waitFor();
    await desk.row("tokens").waitFor();
    await page.keyboard.press("Enter");
  },

  async "a fork goes on beside its session, and the session can be opened again"() {
    const { used } = await desk.figures();
    await desk.run("Fork Here");
    await desk.turn("read numbers.txt");
    assert.ok((await desk.figures()).used > used);
    await desk.run("Open Session…");
    await desk.row("open now").waitFor();
    await desk.picture("sessions");
    const other = page.locator(".quick-input-list .monaco-list-row").filter({ hasNotText: "open now" }).first();
    await other.click();
    await desk.until("the first session's meter", async () => (await desk.figures()).used === used);
  },

  async "a handoff opens a session with its draft, and a new one is empty"() {
    const before = await desk.figures();
    await desk.run("Handoff");
    await desk.fill("Handoff", "go on with numbers.txt");
    await desk.until("another session", async () => (await desk.figures()).used !== before.used);
    await desk.drafted("go on with numbers.txt");
    await desk.picture("handoff");
    await desk.run("New Session");
    await desk.until("an empty session", async () => (await desk.figures()).about);
    const chat = await desk.view("chat");
    await desk.until("the focus in its input", () => chat.evaluate(() => document.hasFocus() && document.activeElement.tagName === "TEXTAREA"));
  },

  async "what cannot be done is said"() {
    await desk.run("Undo Compaction");
    await desk.toast("Sidecar:").waitFor();
    await desk.picture("nothing");
  },

  async "a second window may look, but not write"() {
    const { used } = await desk.figures();
    const other = await desk.window();
    await other.until("a lock", async () => (await other.figures()).used === used && (await other.meter.locator(".codicon-lock").count()));
    await other.picture("second-window");
    await other.send("read a.txt");
    await other.toast("another window writes this session").waitFor();
    await other.page.close();
  },

  async "the API key reaches the provider, by no argument and no variable"() {
    const keys = [];
    const provider = createServer((request, response) => {
      keys.push(request.headers.authorization);
      response.writeHead(401, { "content-type": "application/json" });
      response.end(JSON.stringify({ type: "error", error: { type: "authentication_error", message: "no such key" } }));
    });
    await new Promise((listening) => provider.listen(0, "127.0.0.1", listening));
    const baseUrl = `http://127.0.0.1:${provider.address().port}`;
    const starts = () => readFileSync(given.pids, "utf8").trim().split("\n");
    const before = starts().length;
    await desk.configure(settings, { "sidecar.baseUrl": baseUrl, "sidecar.model": "claude-opus-5-5", "sidecar.window": 0 });
    await desk.until("a daemon with these settings", () => starts().length > before);
    await desk.run("Set API Key");
    await desk.fill("API key", SECRET);
    await desk.until("a daemon with the key", () => starts().length > before + 1);
    // The session has the model that needs no key: another is offered.
    await desk.row("claude-opus-5-5").waitFor();
    await desk.pick("claude-opus-5-5");
    const chat = await desk.openChat();
    await chat.getByRole("button", { name: "Model: claude-opus-5-5. Switch" }).waitFor();
    await desk.send("hello");
    await desk.until("the key at the provider", () => keys.includes(`Bearer ${SECRET}`));
    await desk.toast("no such key").waitFor();
    await chat.getByRole("button", { name: "Set API Key…" }).waitFor();
    await desk.picture("refused-key");
    const [pid] = starts().at(-1).split(" ");
    for (const place of ["cmdline", "environ"]) assert.ok(!readFileSync(`/proc/${pid}/${place}`, "utf8").includes(SECRET));
    provider.close();
    await desk.configure(settings, { "sidecar.baseUrl": "", "sidecar.model": "offline", "sidecar.window": 12000 });
  },

  async "a wrong path is told, and the right one starts it"() {
    await desk.configure(settings, { "sidecar.path": "/no/such/sidecar" });
    await desk.toast("/no/such/sidecar").waitFor();
    await desk.until("a meter that says so", async () => (await desk.meter.innerText()).includes("failed"));
    await desk.picture("no-daemon");
    await desk.configure(settings, { "sidecar.path": given.daemon });
    await desk.figures();
  },

  async "the log can be seen"() {
    await desk.run("Show Log");
    await page.locator(".panel .view-lines", { hasText: "starting" }).first().waitFor();
    await desk.picture("log");
  },
});
