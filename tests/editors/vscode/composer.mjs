// The chat's input in the real editor: chips of what is open, commands, pictures, and a draft that survives a reload.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDesk } from "./desk.mjs";
import { play } from "./play.mjs";

const given = JSON.parse(process.argv[2]);
const desk = await openDesk(given);
const { page } = desk;
const ofInput = (chat) => chat.getByRole("textbox", { name: "Message to Sidecar" });
const chip = (chat, text) => chat.locator(".attached", { hasText: text });

/** Wait until the newest turn has ended. */
const ended = (chat) => chat.locator(".turn").last().locator(".cost:not(:empty)").waitFor();

await play(desk, {
  async "what is open and selected stands as chips, and can be taken out"() {
    await desk.figures();
    const chat = await desk.openChat();
    await ofInput(chat).waitFor();
    assert.equal(await chat.locator(".attached").count(), 0);
    await desk.open("numbers.txt");
    await desk.open("a.txt");
    await page.locator(".editor-instance .view-lines").last().click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press("Shift+ArrowDown");
    await chip(chat, "lines 1–2").waitFor();
    await chip(chat, "1 more open").waitFor();
    await desk.picture("chips");
    await chip(chat, "1 more open").getByRole("button").click();
    await desk.say(chat, "what is shown in the editor?");
    await ended(chat);
    assert.equal(await chip(chat, "1 more open").count(), 0);
    await chip(chat, "a.txt").waitFor();
  },

  async "a command completes and runs, and one that is misspelt goes nowhere"() {
    const chat = await desk.openChat();
    await ofInput(chat).fill("");
    await page.keyboard.type("/co");
    await chat.getByRole("option", { name: /^\/compact/ }).waitFor();
    await desk.picture("commands");
    await ofInput(chat).fill("/compcat");
    await page.keyboard.press("Enter");
    await chat.getByRole("button", { name: "Use /compact" }).click();
    await desk.picture("misspelt");
    await page.keyboard.press("Enter");
    await page.locator(".quick-input-titlebar", { hasText: "Compact Now" }).waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await chat.locator(".turn").count(), 1);
  },

  async "a mention is completed from the folder, without what is ignored"() {
    const chat = await desk.openChat();
    mkdirSync(join(given.workspace, "built"));
    mkdirSync(join(given.workspace, ".git"));
    mkdirSync(join(given.workspace, "deep/er"), { recursive: true });
    writeFileSync(join(given.workspace, ".gitignore"), "built/\n");
    for (const name of ["built/report.md", "deep/er/yearly report.md", "deep/reporter.py"]) writeFileSync(join(given.workspace, name), "x\n");
    await ofInput(chat).fill("");
    await page.keyboard.type("read @");
    await chat.getByRole("option", { name: "a.txt" }).waitFor();
    await page.keyboard.type("rept");
    await desk.until("two files", async () => (await chat.getByRole("option").allInnerTexts()).join() === "reporter.py\ndeep,yearly report.md\ndeep/er");
    await desk.picture("mention");
    await page.keyboard.press("Enter");
    assert.equal(await ofInput(chat).inputValue(), "read @deep/reporter.py ");
  },

  async "a mention is completed with symbols that the editor's languages know"() {
    await desk.open("story.md");
    const chat = await desk.openChat();
    const symbol = chat.getByRole("option", { name: "# A story" });
    // The language's server may have to start.
    await desk.until("the heading", async () => {
      await ofInput(chat).fill("");
      await page.keyboard.type("explain @story");
      return symbol.waitFor({ timeout: 3000 }).then(() => true, () => false);
    });
    await desk.picture("symbols");
    await symbol.click();
    assert.match(await ofInput(chat).inputValue(), /^explain @story\.md#L1-L\d+ $/);
    await ofInput(chat).fill("");
    await desk.open("a.txt");
  },

  async "what is selected is named in the chat by a key and from the editor's menu"() {
    await desk.tab("a.txt").click();
    await page.locator(".editor-instance .view-lines").last().click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press("Shift+ArrowDown");
    const chat = await desk.view("chat");
    await ofInput(chat).evaluate((input) => (input.value = "see"));
    await page.keyboard.press("Control+Alt+a");
    await desk.until("the mention", async () => (await ofInput(chat).inputValue()) === "see @a.txt#L1-L2 ");
    await ofInput(chat).evaluate((input) => (input.value = ""));
    await page.locator(".editor-instance .view-lines .view-line").first().click({ button: "right" });
    const entry = page.locator(".monaco-menu .action-label", { hasText: "Explain with Sidecar" });
    await entry.waitFor();
    await page.locator(".monaco-menu .action-label", { hasText: "Mention in Sidecar" }).waitFor();
    await desk.picture("menu");
    await entry.click();
    await desk.drafted("Explain @a.txt");
    await ofInput(chat).fill("");
    await page.locator(".editor-instance .view-lines").last().click();
    await desk.until("the focus in the editor", () => page.evaluate(() => document.activeElement?.closest(".editor-instance") != null));
    await page.keyboard.press("Control+Alt+s");
    await desk.until("the focus in the chat", () => chat.evaluate(() => document.hasFocus() && document.activeElement.tagName === "TEXTAREA"));
  },

  async "a picture and a draft survive hiding the chat and reloading the window"() {
    const chat = await desk.openChat();
    await ofInput(chat).evaluate(async (element) => {
      const canvas = new OffscreenCanvas(300, 200);
      const drawn = canvas.getContext("2d");
      drawn.fillStyle = "teal";
      drawn.fillRect(40, 40, 220, 60);
      const data = new DataTransfer();
      data.items.add(new File([await canvas.convertToBlob()], "a.png", { type: "image/png" }));
      element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    });
    await ofInput(chat).fill("a draft that is not sent");
    await chat.locator(".attached canvas").waitFor();
    await desk.run("Show Explorer", "View");
    await desk.until("the end of the page", () => chat.isDetached());
    const again = await desk.openChat();
    await desk.until("the draft", async () => (await ofInput(again).inputValue()) === "a draft that is not sent");
    await again.locator(".attached canvas").waitFor();
    await page.reload();
    await desk.figures();
    const reloaded = await desk.openChat();
    await desk.until("the draft after a reload", async () => (await ofInput(reloaded).inputValue()) === "a draft that is not sent");
    await reloaded.locator(".attached canvas").waitFor();
    await desk.picture("reloaded");
    await ofInput(reloaded).press("Enter");
    await reloaded.locator(".user canvas").waitFor();
    await ended(reloaded);
    await desk.picture("pictured");
    await ofInput(reloaded).press("ArrowUp");
    assert.equal(await ofInput(reloaded).inputValue(), "a draft that is not sent");
    await ofInput(reloaded).press("ArrowUp");
    assert.equal(await ofInput(reloaded).inputValue(), "what is shown in the editor?");
  },

  async "a mention is completed with other sessions, whose digest the model is given"() {
    const before = await desk.openChat();
    await desk.run("New Session");
    await desk.until("an empty chat", async () => (await before.locator(".turn").count()) === 0);
    const chat = await desk.openChat();
    const option = chat.getByRole("option", { name: "what is shown in the editor?" });
    await ofInput(chat).fill("");
    await page.keyboard.type("go on as in @what");
    await option.click();
    const along = chat.locator(".attached", { hasText: "what is shown in the editor?" });
    await along.waitFor();
    await desk.picture("session");
    await page.keyboard.press("Enter");
    await chat.locator(".turn .along", { hasText: "what is shown in the editor?" }).waitFor();
    await ended(chat);
    await along.waitFor({ state: "detached" });
    await desk.picture("digest");
  },

  async "the tour has four steps"() {
    await desk.run("Open Walkthrough...", "Welcome");
    await desk.pick("Sidecar in four steps");
    const step = page.locator(".gettingStartedSlideDetails .getting-started-step");
    await desk.until("four steps", async () => (await step.count()) === 4);
    await step.nth(1).click();
    await page.waitForTimeout(500);
    await desk.picture("tour");
  },

  async "without a folder there is a welcome that leads on"() {
    await page.goto(`${new URL(page.url()).origin}/?ew=true`);
    await page.locator(".activitybar .action-item", { has: page.getByRole("tab", { name: "Sidecar" }) }).or(page.getByRole("tab", { name: "Sidecar" })).first().click();
    const welcome = page.locator(".welcome-view-content", { hasText: "Sidecar works on the files of a folder" });
    await welcome.locator(".monaco-button", { hasText: "Open Folder" }).waitFor();
    await welcome.locator(".monaco-button", { hasText: "Take the Tour" }).waitFor();
    await desk.picture("no-folder");
  },
});
