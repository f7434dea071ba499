// VS Code, Neovim, Emacs and an ACP client on one session of a shared daemon: each sees, asks and
// answers; a reload ends no turn.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDesk } from "./desk.mjs";
import { play } from "./play.mjs";

const given = JSON.parse(process.argv[2]);
const desk = await openDesk(given);
const place = (name) => join(given.workspace, "..", name);

/** The others by their names, with what they said, and with which code they ended. */
const others = {};

function begin(name) {
  const { command, env } = given.others[name];
  const [program, ...words] = command;
  const child = spawn(program, words, { cwd: given.workspace, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const other = (others[name] = { said: "" });
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (other.said += data));
  child.on("exit", (code) => (other.ended = code));
  process.on("exit", () => child.kill("SIGKILL"));
}

/** Have another go on: it waits for a mark before each of its steps, and leaves one after it. */
const tell = (name, step) => writeFileSync(place(`${name}-${step}.go`), "");
const told = (name, step) =>
  desk.until(`${name} to have ${step}`, async () => {
    if (existsSync(place(`${name}-${step}.done`))) return Number(readFileSync(place(`${name}-${step}.done`), "utf8"));
    const { said, ended } = others[name];
    if (ended !== undefined) throw new Error(`${name} ended with ${ended}:\n${said}`);
  });

/** Wait until VS Code's meter, which may be drawn later, has the same figure as another's. */
const shows = (figure, value) => desk.until(`${figure} ${value} in the meter`, async () => (await desk.figures())[figure] === value);
const card = (chat, text) => chat.getByRole("group", { name: new RegExp(`^May this run\\? Run ${text}`) });
const quiet = (chat) => chat.locator(".working").waitFor({ state: "hidden" });

await play(desk, {
  async "Neovim joins the session that VS Code has open"() {
    await desk.figures();
    const chat = await desk.openChat();
    await desk.say(chat, "read a.txt");
    await desk.idle();
    begin("neovim");
    await shows("percent", await told("neovim", "joined"));
  },

  async "a question of the one is answered in the other"() {
    const chat = await desk.view("chat");
    tell("neovim", "allowed");
    await desk.say(chat, 'call shell {"command": "echo allowed > allowed.txt"}');
    await told("neovim", "allowed");
    await desk.until("no question", async () => (await chat.locator(".question").count()) === 0);
    await quiet(chat);
    assert.ok(existsSync(join(given.workspace, "allowed.txt")));
  },

  async "a turn of the other is seen as it runs, and its question answered here"() {
    const chat = await desk.view("chat");
    tell("neovim", "refused");
    await card(chat, "echo refused").waitFor();
    await desk.picture("asked-by-neovim");
    await card(chat, "echo refused").getByRole("button", { name: "Reject", exact: true }).click();
    await told("neovim", "refused");
    await quiet(chat);
    await chat.locator(".user", { hasText: "call shell" }).nth(1).waitFor();
    assert.ok(!existsSync(join(given.workspace, "refused.txt")));
    await shows("percent", await told("neovim", "refused"));
  },

  async "neither a reload nor a restart ends a turn: its question is there again"() {
    tell("neovim", "waited");
    await card(await desk.view("chat"), "echo waited").waitFor();
    await desk.page.reload();
    await desk.page.locator(".monaco-workbench .statusbar").waitFor();
    await desk.figures();
    const chat = await desk.openChat();
    await card(chat, "echo waited").waitFor();
    await desk.picture("asked-after-the-reload");
    await desk.run("Restart Daemon");
    await card(chat, "echo waited").waitFor({ state: "hidden" });
    await card(chat, "echo waited").waitFor();
    await card(chat, "echo waited").getByRole("button", { name: "Allow once", exact: true }).click();
    await told("neovim", "waited");
    await quiet(chat);
    assert.ok(existsSync(join(given.workspace, "waited.txt")));
  },

  async "Emacs and an ACP client go on in it"() {
    begin("emacs");
    begin("acp");
    await shows("used", await told("emacs", "joined"));
    await shows("used", await told("acp", "joined"));
  },

  async "a turn of each is heard by all others"() {
    const chat = await desk.view("chat");
    await desk.say(chat, "hello from vscode");
    await desk.idle();
    for (const name of ["neovim", "emacs", "acp"]) {
      tell(name, "spoken");
      await told(name, "spoken");
      await chat.locator(".user", { hasText: `hello from ${name}` }).waitFor();
      await quiet(chat);
    }
    for (const name of ["neovim", "emacs", "acp"]) {
      tell(name, "heard");
      await told(name, "heard");
    }
    await desk.picture("a-turn-of-each");
  },

  async "a question of the ACP client is answered in Emacs, and asked nowhere any more"() {
    const chat = await desk.view("chat");
    tell("acp", "asked");
    await card(chat, "echo four").waitFor();
    tell("neovim", "shown");
    await told("neovim", "shown");
    tell("emacs", "answered");
    await told("emacs", "answered");
    await told("acp", "asked");
    tell("neovim", "withdrawn");
    await told("neovim", "withdrawn");
    await desk.until("no question", async () => (await chat.locator(".question").count()) === 0);
    assert.ok(existsSync(join(given.workspace, "four.txt")));
    for (const [name, other] of Object.entries(others)) {
      await desk.until(`${name} to end`, async () => other.ended !== undefined);
      assert.equal(other.ended, 0, other.said);
    }
  },
});
