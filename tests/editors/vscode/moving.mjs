// A session is written to a file by the palette, and taken in again.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openDesk } from "./desk.mjs";
import { play } from "./play.mjs";

const given = JSON.parse(process.argv[2]);
const desk = await openDesk(given);
const { page } = desk;
const file = join(given.workspace, "moved.sidecar");

/** Answer the dialog that asks for a file. */
async function name(title, path) {
  const dialog = page.locator(".quick-input-titlebar", { hasText: title });
  await dialog.waitFor();
  const input = page.locator(".quick-input-widget input[type=text]").first();
  // The dialog looks a path up while it is typed, and takes no Enter before it knows it.
  await desk.until("the dialog to take the path", async () => {
    if (!(await dialog.isVisible())) return true;
    if ((await input.inputValue()) !== path) await input.fill(path, { timeout: 1000 }).catch(() => {});
    else {
      await input.press("Enter", { timeout: 1000 }).catch(() => {});
      // A second Enter would answer what is asked next.
      await dialog.waitFor({ state: "hidden", timeout: 2000 }).catch(() => {});
    }
    return false;
  });
}

/** Put the session away that is open. */
async function archive() {
  await desk.run("Archive Session…");
  await desk.pick("open now");
  await page.locator(".monaco-dialog-box .monaco-button", { hasText: "Archive" }).click();
}

await play(desk, {
  async "a session is exported"() {
    await desk.figures();
    await desk.turn("read a.txt");
    await desk.run("Export");
    await desk.picture("where-to");
    await name("Sidecar: Export", file);
    await desk.toast("Exported to").waitFor();
    await desk.picture("exported");
    assert.ok(existsSync(file));
    assert.equal(statSync(file).mode & 0o777, 0o600);
  },

  async "and goes on as another one"() {
    const { used } = await desk.figures();
    await desk.run("New Session");
    await desk.until("an empty session", async () => (await desk.figures()).used < used);
    await desk.run("Import Session…");
    await name("Sidecar: Import Session", file);
    await desk.toast("Imported").waitFor();
    await desk.until("the same meter", async () => (await desk.figures()).used === used);
    await desk.picture("imported");
    await desk.turn("read numbers.txt");
  },

  async "it is put away, when it is said what that means"() {
    const { used } = await desk.figures();
    const dialog = page.locator(".monaco-dialog-box");
    await desk.run("Archive Session…");
    await desk.row("open now").waitFor();
    await desk.pick("open now");
    await dialog.waitFor();
    await desk.picture("archiving");
    assert.match(await dialog.innerText(), /Import Session… of that file brings it back.*another window has open.*refused/s);
    await dialog.locator(".monaco-button", { hasText: "Cancel" }).click();
    assert.equal((await desk.figures()).used, used);
    await archive();
    const told = desk.toast("Archived to");
    await told.waitFor();
    await desk.until("an empty session", async () => (await desk.figures()).used < used);
    await desk.picture("archived");
    const away = (await told.innerText()).match(/Archived to (\S+\.sidecar)\./)[1];
    assert.ok(existsSync(away));
    await desk.run("Import Session…");
    await name("Sidecar: Import Session", away);
    await desk.until("it to be back", async () => (await desk.figures()).used === used);
    await desk.turn("read a.txt");
  },

  async "one that was put away in another folder comes back there"() {
    const { used } = await desk.figures();
    const dialog = page.locator(".monaco-dialog-box");
    await desk.run("Import Session…");
    await name("Sidecar: Import Session", given.away);
    await dialog.waitFor();
    await desk.picture("elsewhere");
    assert.ok((await dialog.innerText()).includes(`It works in ${given.elsewhere}.`));
    assert.deepEqual((await dialog.locator(".monaco-button").allInnerTexts()).sort(), ["Cancel", "Open Folder"]);
    await dialog.locator(".monaco-button", { hasText: "Cancel" }).click();
    await desk.toast("Imported").waitFor();
    assert.equal((await desk.figures()).used, used);
  },

  async "one that works stays, and why is said"() {
    await desk.run("Show Explorer", "View");
    await desk.send("run `sleep 60`");
    await desk.toast("may this run?").waitFor();
    await archive();
    await desk.toast("a turn of this session runs: wait for its end").waitFor();
    await desk.picture("busy");
    await desk.run("Cancel");
    await desk.idle();
  },

  async "what is no session is said"() {
    const odd = join(given.workspace, "odd.sidecar");
    writeFileSync(odd, "no session\n");
    await desk.run("Import Session…");
    await name("Sidecar: Import Session", odd);
    await desk.toast("is no recording of a session").waitFor();
    await desk.picture("refused");
  },

  async "what other agents recorded in this folder is offered, the newest first"() {
    const common = { sessionId: "s", cwd: given.workspace, timestamp: "2026-01-08T14:41:01Z" };
    const claude = [
      { ...common, type: "user", uuid: "1", message: { role: "user", content: "Mend the parser, and $(run) its tests." } },
      { ...common, type: "assistant", uuid: "2", message: { id: "m", role: "assistant", model: "claude-opus-4-5", content: [{ type: "text", text: "It is mended." }], usage: { input_tokens: 10, output_tokens: 5 } } },
    ];
    const codex = (cwd, message) => [{ type: "session_meta", payload: { cwd } }, { type: "event_msg", payload: { type: "user_message", message } }];
    const put = (path, lines) => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    };
    put(join(given.agents, "codex/sessions/2026/01/08/one.jsonl"), codex(given.workspace, "Rename the tool."));
    put(join(given.agents, "codex/sessions/2026/01/08/two.jsonl"), codex(given.elsewhere, "Of another folder."));
    const projects = join(given.agents, "claude/projects", given.workspace.replace(/[^A-Za-z0-9]/g, "-"));
    put(join(projects, "one.jsonl"), claude);
    put(join(projects, "alike.jsonl"), claude.map((line) => ({ ...line, cwd: given.elsewhere })));
    put(join(projects, "one/subagents/agent-1.jsonl"), claude);
    put(join(given.agents, "codex/sessions/2026/01/08/long.jsonl"), [{ type: "session_meta", payload: { base: "x".repeat(70_000), cwd: given.elsewhere } }]);
    await desk.run("Import Session…");
    await desk.row("Rename the tool.").waitFor();
    const shown = await page.locator(".quick-input-list .monaco-list-row").allInnerTexts();
    assert.deepEqual([shown.length, shown.some((row) => row.includes("another folder"))], [3, false]);
    assert.match(shown[0], /Mend the parser, and \$ \(run\) its tests\.[^]*Claude Code/);
    assert.match(shown[1], /Rename the tool\.[^]*Codex/);
    await desk.picture("recorded");
    await desk.pick("Mend the parser");
    await desk.toast("Imported").waitFor();
    await (await desk.openChat()).getByText("It is mended.").waitFor();
    await desk.run("Import Session…");
    await desk.pick("A file…");
    await name("Sidecar: Import Session", file);
    await (await desk.openChat()).getByText("read a.txt").first().waitFor();
  },
});
