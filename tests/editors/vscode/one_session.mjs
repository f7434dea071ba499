// VS Code and Neovim on one session of a shared daemon: both see, ask and answer; a reload ends no turn.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDesk } from "./desk.mjs";
import { play } from "./play.mjs";

const given = JSON.parse(process.argv[2]);
const desk = await openDesk(given);
const place = (name) => join(given.workspace, "..", name);

let said = "";
let ended;

/** Have Neovim go on: it waits for a mark before each of its steps, and leaves one after it. */
const tell = (step) => writeFileSync(place(`${step}.go`), "");
const told = (step) =>
  desk.until(`Neovim to have ${step}`, async () => {
    if (existsSync(place(`${step}.done`))) return readFileSync(place(`${step}.done`), "utf8");
    if (ended !== undefined) throw new Error(`Neovim ended with ${ended}:\n${said}`);
  });

const card = (chat, text) => chat.getByRole("group", { name: new RegExp(`^May this run\\? Run ${text}`) });
const quiet = (chat) => chat.locator(".working").waitFor({ state: "hidden" });

await play(desk, {
  async "Neovim joins the session that VS Code has open"() {
    await desk.figures();
    const chat = await desk.openChat();
    await desk.say(chat, "read a.txt");
    await desk.idle();
    const nvim = spawn(given.nvim, ["--headless", "-u", "NONE", "-i", "NONE", "-n", "-S", given.script], {
      cwd: given.workspace,
      env: { ...process.env, ...given.nvimEnv },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [nvim.stdout, nvim.stderr]) stream.on("data", (data) => (said += data));
    nvim.on("exit", (code) => (ended = code));
    process.on("exit", () => nvim.kill("SIGKILL"));
    assert.equal(Number(await told("joined")), (await desk.figures()).percent);
  },

  async "a question of the one is answered in the other"() {
    const chat = await desk.view("chat");
    tell("allowed");
    await desk.say(chat, 'call shell {"command": "echo allowed > allowed.txt"}');
    await told("allowed");
    await desk.until("no question", async () => (await chat.locator(".question").count()) === 0);
    await quiet(chat);
    assert.ok(existsSync(join(given.workspace, "allowed.txt")));
  },

  async "a turn of the other is seen as it runs, and its question answered here"() {
    const chat = await desk.view("chat");
    tell("refused");
    await card(chat, "echo refused").waitFor();
    await desk.picture("asked-by-neovim");
    await card(chat, "echo refused").getByRole("button", { name: "Reject", exact: true }).click();
    await told("refused");
    await quiet(chat);
    await chat.locator(".user", { hasText: "call shell" }).nth(1).waitFor();
    assert.ok(!existsSync(join(given.workspace, "refused.txt")));
    assert.equal(Number(await told("refused")), (await desk.figures()).percent);
  },

  async "a reload ends no turn: its question is there again"() {
    tell("waited");
    await card(await desk.view("chat"), "echo waited").waitFor();
    await desk.page.reload();
    await desk.page.locator(".monaco-workbench .statusbar").waitFor();
    await desk.figures();
    const chat = await desk.openChat();
    await card(chat, "echo waited").waitFor();
    await desk.picture("asked-after-the-reload");
    await card(chat, "echo waited").getByRole("button", { name: "Allow once", exact: true }).click();
    await told("waited");
    await quiet(chat);
    assert.ok(existsSync(join(given.workspace, "waited.txt")));
    await desk.until("Neovim to end", async () => ended !== undefined);
    assert.equal(ended, 0, said);
  },
});
