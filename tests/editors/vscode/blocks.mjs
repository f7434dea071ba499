// What was answered leaves the chat in the real editor: copied, inserted, applied by the agent, and followed to its place.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openDesk } from "./desk.mjs";
import { play } from "./play.mjs";

const given = JSON.parse(process.argv[2]);
const desk = await openDesk(given);
const { page } = desk;
const disk = (name) => readFileSync(join(given.workspace, name), "utf8");
const block = (chat) => chat.locator(".code").first();
const clipboard = async () => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  return page.evaluate(() => navigator.clipboard.readText());
};

await play(desk, {
  async "an answer and a piece of code are copied"() {
    await desk.figures();
    await desk.open("a.txt");
    const chat = await desk.openChat();
    await desk.say(chat, "What is the fourth?");
    await block(chat).waitFor();
    await chat.locator(".cost:not(:empty)").waitFor();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await block(chat).hover();
    await desk.picture("block");
    await block(chat).getByRole("button", { name: "Copy code" }).click();
    await desk.until("the code", async () => (await clipboard()) === "four\n");
    await chat.getByRole("button", { name: "Copy answer" }).click();
    await desk.until("the answer", async () => (await clipboard()) === given.answer);
  },

  async "a link opens the line, and so does code that names one"() {
    const chat = await desk.view("chat");
    await chat.getByRole("link", { name: "the fourth" }).click();
    await desk.tab("numbers.txt").waitFor();
    const at = (line) => desk.until(`line ${line}`, async () => (await page.locator(".statusbar").innerText()).includes(`Ln ${line},`));
    await at(4);
    await chat.getByRole("link", { name: "story.md:12" }).click();
    await desk.tab("story.md").waitFor();
    await at(12);
    await desk.picture("line");
  },

  async "code is inserted where the cursor is"() {
    const chat = await desk.view("chat");
    await desk.tab("a.txt").click();
    await desk.until("its text", async () => (await desk.text()).startsWith("one"));
    await page.locator(".editor-instance .view-lines").last().click();
    await page.keyboard.press("Control+End");
    await block(chat).getByRole("button", { name: "Insert at the cursor" }).click();
    await desk.until("the line", async () => /three\s+four/.test(await desk.text()));
    await page.locator(".editor-instance .view-lines").last().click();
    await page.keyboard.press("Control+Z");
    await desk.until("the text as it was", async () => !(await desk.text()).includes("four"));
  },

  async "code is applied by the agent, who asks as for any edit"() {
    const chat = await desk.view("chat");
    await block(chat).getByRole("button", { name: "Apply to a file…" }).click();
    await desk.row("a.txt").waitFor();
    await desk.picture("apply");
    await desk.pick("a.txt");
    await chat.locator(".user", { hasText: "Work the code that goes along into @a.txt" }).waitFor();
    await desk.tab("a.txt: may this be changed?").waitFor();
    assert.equal(disk("a.txt"), "one\ntwo\nthree\n");
    await chat.getByRole("button", { name: "Allow once" }).click();
    await desk.until("the edit", () => disk("a.txt") === "one\ntwo\nthree\nfour\n");
  },

  async "in a narrow, dark window"() {
    await desk.configure(join(given.server, "data/Machine/settings.json"), { "workbench.colorTheme": "Default Dark Modern" });
    await page.setViewportSize({ width: 640, height: 700 });
    const chat = await desk.view("chat");
    await block(chat).scrollIntoViewIfNeeded();
    await block(chat).hover();
    await desk.until("the dark theme", () => chat.evaluate(() => document.body.classList.contains("vscode-dark")));
    await desk.picture("narrow");
  },
});
