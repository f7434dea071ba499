// An earlier message is edited and sent again in the real editor.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openDesk } from "./desk.mjs";
import { play } from "./play.mjs";

const given = JSON.parse(process.argv[2]);
const desk = await openDesk(given);
const { page } = desk;
const disk = (name) => readFileSync(join(given.workspace, name), "utf8");
const input = (chat) => chat.getByRole("textbox", { name: "Message to Sidecar" });
const turns = async (chat, count) => {
  await desk.until(`${count} turns`, async () => (await chat.locator(".turn").count()) === count);
  if (count) await chat.locator(".turn").last().locator(".cost:not(:empty)").waitFor();
};

/** Have an earlier message edited: its button comes by the mouse. */
async function edit(chat, text, way) {
  const said = chat.locator(".said", { hasText: text });
  await said.hover();
  await said.getByRole("button", { name: "Edit and send again…" }).click();
  await desk.row("Fork before it").waitFor();
  await desk.picture("ways");
  await desk.pick(way);
}

await play(desk, {
  async "an earlier message is edited by going back in the conversation alone"() {
    await desk.figures();
    const chat = await desk.openChat();
    await desk.say(chat, "replace `two` with `zwei` in a.txt");
    await turns(chat, 1);
    await desk.say(chat, "read a.txt");
    await turns(chat, 2);
    await edit(chat, "read a.txt", "Go back in the conversation alone");
    await turns(chat, 1);
    await desk.drafted("read a.txt");
    assert.equal(disk("a.txt"), "one\nzwei\nthree\n");
  },

  async "in a fork, which leaves this session as it is"() {
    const chat = await desk.view("chat");
    await desk.say(chat, "read numbers.txt");
    await turns(chat, 2);
    await edit(chat, "read numbers.txt", "Fork before it");
    await turns(chat, 1);
    await desk.drafted("read numbers.txt");
    await input(chat).fill("");
    await edit(chat, "replace", "Fork before it");
    await turns(chat, 0);
    await desk.drafted("replace `two` with `zwei` in a.txt");
    await desk.picture("forked");
    await desk.run("Open Session…");
    await desk.until("three sessions", async () => (await page.locator(".quick-input-list .monaco-list-row").count()) === 3);
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "3 turns" }).first().click();
    await turns(chat, 2);
    await input(chat).fill("");
  },

  async "or by going back in files, too"() {
    const chat = await desk.view("chat");
    await edit(chat, "replace", "Go back to before it");
    await desk.choose("Go back?", "Go Back", "asked");
    await turns(chat, 0);
    await desk.drafted("replace `two` with `zwei` in a.txt");
    assert.equal(disk("a.txt"), "one\ntwo\nthree\n");
    await input(chat).fill("");
  },
});
