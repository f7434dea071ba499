// The chat and the context view in the real editor: typed, streamed, asked, diffed, restored, hidden and shown again.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openDesk } from "./desk.mjs";
import { play } from "./play.mjs";

const given = JSON.parse(process.argv[2]);
const desk = await openDesk(given);
const { page } = desk;

const view = (name) => desk.view(name);
const openChat = () => desk.openChat();
const say = (chat, text) => desk.say(chat, text);

/** Wait until the turn that was begun last has ended. */
async function ended(chat, turns) {
  await chat.locator(".turn .cost:not(:empty)").nth(turns - 1).waitFor();
  await chat.locator(".working").waitFor({ state: "hidden" });
}

/** Hide the chat, so that its page ends, and show it: all in it is replayed. */
async function hiddenAndShown(chat) {
  await desk.run("Show Explorer", "View");
  await desk.until("the end of the page", () => chat.isDetached());
  return openChat();
}

const disk = (name) => readFileSync(join(given.workspace, name), "utf8");
const edit = "replace `two` with `zwei` in a.txt then read story.md";

await play(desk, {
  async "the chat opens with room to type"() {
    await desk.figures();
    const chat = await openChat();
    await chat.getByText("go between turns").waitFor();
    await chat.getByRole("button", { name: "Model: offline. Switch" }).waitFor();
    await desk.picture("empty");
  },

  async "what is typed is answered, with thinking folded and calls that say how they stand"() {
    const chat = await view("chat");
    await chat.evaluate(() => {
      window.lengths = new Set();
      const look = () => window.lengths.add([...document.querySelectorAll(".markdown")].at(-1)?.textContent.length);
      new MutationObserver(look).observe(document.body, { childList: true, characterData: true, subtree: true });
    });
    await say(chat, edit);
    await chat.getByRole("button", { name: "Edit a.txt, done" }).waitFor();
    await chat.getByRole("button", { name: "Read story.md, done" }).waitFor();
    await ended(chat, 1);
    assert.equal(await chat.getByRole("button", { name: /^Thought.* My rules/ }).getAttribute("aria-expanded"), "false");
    await chat.locator(".markdown", { hasText: "Done. What the tools said" }).waitFor();
    // A busy machine draws several words at once, but never all of them.
    assert.ok((await chat.evaluate(() => window.lengths.size)) > 3, "the answer comes piece by piece");
    assert.equal(disk("a.txt"), "one\nzwei\nthree\n");
    await desk.picture("answered");
  },

  async "a call that needs permission is asked for in the chat"() {
    const chat = await view("chat");
    await say(chat, "run `echo ran > ran.txt`");
    await chat.getByRole("group", { name: /^May this run\? Run echo ran/ }).waitFor();
    await desk.picture("permission");
    assert.ok(!existsSync(join(given.workspace, "ran.txt")));
    await chat.getByRole("button", { name: "Allow once" }).click();
    await chat.getByRole("button", { name: "Run echo ran > ran.txt, done" }).waitFor();
    await ended(chat, 2);
    assert.equal(disk("ran.txt"), "ran\n");
  },

  async "a call's diff and a turn's open in the editor, with the whole text"() {
    const chat = await view("chat");
    for (const name of ["Open diff of a.txt", "Open the turn's changes of a.txt"]) {
      await chat.getByRole("button", { name }).click();
      await desk.tab("a.txt (Sidecar's change)").waitFor();
      await desk.until("both sides", async () => {
        const sides = await page.locator(".monaco-diff-editor .view-lines").allInnerTexts();
        return sides.length === 2 && /one\s+two\s+three/.test(sides[0]) && /one\s+zwei\s+three/.test(sides[1]);
      });
      await desk.picture("diff");
      await desk.run("Close Editor", "View");
    }
  },

  async "a view that was hidden shows the same again"() {
    const chat = await view("chat");
    const before = await chat.locator(".parts").allInnerTexts();
    const costs = await chat.locator(".cost").allInnerTexts();
    const again = await hiddenAndShown(chat);
    await desk.until("the conversation again", async () => (await again.locator(".turn").count()) === 2);
    await again.getByRole("button", { name: /^Restore/ }).nth(1).waitFor();
    const plain = (texts) => texts.map((text) => text.replace(/Thought for \d+ s/, "Thought"));
    assert.deepEqual(plain(await again.locator(".parts").allInnerTexts()), plain(before));
    assert.deepEqual(await again.locator(".cost").allInnerTexts(), costs);
    assert.match(costs[0], /requests/);
  },

  async "the context view takes the window apart, and follows a compaction"() {
    const chat = await view("chat");
    for (const [index, text] of ["search for Anna in story.md", "read story.md", "search for crowns in story.md"].entries()) {
      await say(chat, text);
      await ended(chat, index + 3);
    }
    await desk.meter.click();
    const context = await view("context");
    await context.locator("summary", { hasText: "search for crowns" }).waitFor();
    await desk.picture("context");
    await desk.run("Compact Now");
    await desk.fill("Compact Now", "");
    await desk.pick("Compact to");
    await context.getByRole("button", { name: "left out or cut" }).click();
    await desk.picture("left-out");
  },

  async "what was left out is read again by a click"() {
    const context = await view("context");
    await context.locator(".out .piece", { hasText: "read_file" }).first().click();
    await context.getByLabel("Whole text").getByText("On day 0 Anna said").waitFor();
    await desk.picture("recalled");
    const told = /^Compacted: [\d,]+ → [\d,]+ tokens \(user\)/;
    const chat = await openChat();
    await chat.getByText(told).waitFor();
    const again = await hiddenAndShown(chat);
    await again.getByText(told).waitFor();
    await again.getByRole("button", { name: "Undo", exact: true }).click();
    await desk.toast("The compaction was taken back").waitFor();
    await again.locator(".compaction", { hasText: "Compaction taken back" }).waitFor();
  },

  async "Restore goes back, and the prompt comes back into the input"() {
    const chat = await openChat();
    await chat.getByRole("button", { name: "Restore: go back to before “replace two" }).click();
    await desk.pick("Files and conversation");
    await desk.choose("Go back?", /Go Back|Merge/);
    await desk.until("the file as it was", () => disk("a.txt") === "one\ntwo\nthree\n");
    const input = chat.getByRole("textbox", { name: "Message to Sidecar" });
    await desk.until("the prompt in the input", async () => (await input.inputValue()) === edit);
    await desk.until("no turn", async () => (await chat.locator(".turn").count()) === 0);
    await desk.picture("restored");
    await page.keyboard.press("Enter");
    await chat.locator(".user", { hasText: edit }).waitFor();
    await ended(chat, 1);
  },

  async "a reload finds the conversation again, in any theme"() {
    for (const [name, theme] of [["light", "Default Light Modern"], ["contrast", "Default High Contrast"], ["dark", "Default Dark Modern"]]) {
      await desk.configure(join(given.server, "data/Machine/settings.json"), { "workbench.colorTheme": theme });
      await page.reload();
      await desk.figures();
      const chat = await openChat();
      await chat.getByRole("button", { name: "Edit a.txt, done" }).waitFor();
      await chat.getByRole("button", { name: /^Restore/ }).waitFor();
      await desk.picture(`reloaded-${name}`);
    }
  },
});
