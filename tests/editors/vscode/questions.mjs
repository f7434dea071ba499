// Calls that run together in the real editor: each question shows what it is about and takes its own answer.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openDesk } from "./desk.mjs";
import { play } from "./play.mjs";

const given = JSON.parse(process.argv[2]);
const desk = await openDesk(given);

await play(desk, {
  async "two calls that run together are asked about together, and each takes its own answer"() {
    await desk.figures();
    const chat = await desk.openChat();
    const card = (text) => chat.getByRole("group", { name: new RegExp(`^May this run\\? Run ${text}`) });
    const answers = [["Reject", "Allow once", 1], ["Allow once", "Reject", 0]];
    for (const [round, [first, second, begin]] of answers.entries()) {
      const names = [`${round}one.txt`, `${round}two.txt`];
      await desk.say(chat, `call shell {"command": "echo 1 > ${names[0]}"} and shell {"command": "echo 2 > ${names[1]}"}`);
      const cards = [card("echo 1"), card("echo 2")];
      const begun = chat.locator(".turn .cost:not(:empty)").nth(await chat.locator(".turn .cost:not(:empty)").count());
      for (const each of cards) await each.waitFor();
      await desk.picture("two-questions");
      for (const index of [begin, 1 - begin]) {
        await cards[index].getByRole("button", { name: [first, second][index], exact: true }).click();
      }
      await begun.waitFor();
      await chat.locator(".working").waitFor({ state: "hidden" });
      assert.deepEqual(names.map((name) => existsSync(join(given.workspace, name))), [first, second].map((name) => name === "Allow once"));
    }
  },

  async "a question shows the whole command, and one of a turn that is cancelled goes"() {
    const chat = await desk.view("chat");
    await desk.say(chat, 'call shell {"command": "echo first\\nrm -rf nothing"}');
    const shown = chat.locator(".question pre.command");
    await shown.waitFor();
    assert.equal(await shown.textContent(), "echo first\nrm -rf nothing");
    await desk.run("Cancel");
    await desk.until("no question", async () => (await chat.locator(".question").count()) === 0);
    await chat.locator(".working").waitFor({ state: "hidden" });
  },

  async "one that is asked while the chat is hidden is shown there whole"() {
    await desk.run("Show Explorer", "View");
    await desk.send('call shell {"command": "echo hidden > hidden.txt\\necho more"}');
    const toast = desk.toast("may this run?");
    await toast.waitFor();
    await toast.locator(".monaco-button", { hasText: "Show" }).click();
    const chat = await desk.view("chat");
    const shown = chat.locator(".question pre.command");
    await shown.waitFor();
    assert.equal(await shown.textContent(), "echo hidden > hidden.txt\necho more");
    await chat.getByRole("button", { name: "Allow once" }).click();
    await desk.until("what was allowed", () => existsSync(join(given.workspace, "hidden.txt")));
  },

  async "a notification makes no link of what a command says, and lets none be allowed that it cannot show"() {
    await desk.run("Show Explorer", "View");
    const links = "[git status](command:workbench.action.files.newUntitledFile) [b](https://example.invalid/)";
    await desk.send(`call shell {"command": "echo '${links}'"}`);
    const toast = desk.toast("may this run?");
    await toast.waitFor();
    assert.ok((await toast.innerText()).includes("command:workbench.action.files.newUntitledFile"));
    assert.equal(await toast.locator(".notification-list-item-message a").count(), 0);
    await toast.locator(".monaco-button", { hasText: "Reject" }).first().click();
    await desk.idle();
    await desk.send(`call shell {"command": "echo ${"x".repeat(400)}; touch hidden-behind.txt"}`);
    await toast.waitFor();
    assert.equal(await toast.locator(".monaco-button", { hasText: "Allow" }).count(), 0);
    await toast.locator(".monaco-button", { hasText: "Reject" }).first().click();
    await desk.idle();
  },
});
