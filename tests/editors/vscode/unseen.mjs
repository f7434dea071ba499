// What a compaction left out, in the real chat: greyed, said why, recalled into the next message, and whole again.

import assert from "node:assert/strict";
import { openDesk } from "./desk.mjs";
import { play } from "./play.mjs";

const given = JSON.parse(process.argv[2]);
const desk = await openDesk(given);
const { page } = desk;

async function ended(chat, turns) {
  await chat.locator(".turn .cost:not(:empty)").nth(turns - 1).waitFor();
  await chat.locator(".working").waitFor({ state: "hidden" });
}

const begin = async (chat) => {
  const first = chat.locator(".turn").first();
  await first.scrollIntoViewIfNeeded();
  return first;
};

await play(desk, {
  async "nothing is marked before a compaction"() {
    await desk.figures();
    const chat = await desk.openChat();
    for (const [index, text] of ["read story.md", "search for Anna in story.md", "read numbers.txt", "read story.md"].entries()) {
      await desk.say(chat, text);
      await ended(chat, index + 1);
    }
    assert.equal(await chat.locator(".unseen").count(), 0);
  },

  async "what it left out is greyed in the chat, with the reason"() {
    await desk.run("Compact Now");
    await desk.fill("Compact Now", "");
    await desk.pick("Compact to");
    const chat = await desk.openChat();
    const call = (await begin(chat)).locator(".tool.unseen");
    await call.waitFor();
    const why = /^Not seen by the model any more[^:]*: \d+ to \d+ tokens: asked for$/;
    assert.match(await call.locator(".mark").getAttribute("title"), why);
    await chat.locator(".answered.unseen").first().waitFor();
    assert.equal(await chat.locator(".turn").last().locator(".tool.unseen").count(), 0, "the newest is whole");
    await desk.picture("greyed");
  },

  async "Recall lets it go along with the next message"() {
    const chat = await desk.view("chat");
    await (await begin(chat)).getByRole("button", { name: "Recall Read story.md" }).click();
    await chat.locator(".attached", { hasText: "Read story.md" }).waitFor();
    await desk.picture("recalled");
    await desk.say(chat, "who said it?");
    await ended(chat, 5);
    await chat.locator(".turn").last().locator(".along", { hasText: "Read story.md" }).waitFor();
    assert.equal(await chat.locator(".attached", { hasText: "Read story.md" }).count(), 0);
    await desk.picture("along");
    await desk.run("Focus on Context View");
    const context = await desk.view("context");
    await context.locator("summary", { hasText: "who said it?" }).click();
    await context.locator(".piece", { hasText: "sidecar:part/" }).waitFor();
  },

  async "a chat that is shown again marks the same, in a dark theme too"() {
    await desk.run("Show Explorer", "View");
    await desk.configure(`${given.server}/data/Machine/settings.json`, { "workbench.colorTheme": "Default Dark Modern" });
    const chat = await desk.openChat();
    await (await begin(chat)).locator(".tool.unseen").waitFor();
    await desk.picture("dark");
  },

  async "taking the compaction back shows all as before"() {
    await desk.run("Undo Compaction");
    await desk.toast("The compaction was taken back").waitFor();
    const chat = await desk.view("chat");
    await desk.until("no marks", async () => (await chat.locator(".tool.unseen, .answered.unseen").count()) === 0);
    assert.ok((await chat.locator(".tool").count()) >= 4);
    assert.ok(page.url());
  },
});
