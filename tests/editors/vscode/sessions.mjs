// The tree of sessions: listed, opened, renamed, forked, archived, deleted, and searched in all their texts.

import assert from "node:assert/strict";
import { join } from "node:path";
import { openDesk } from "./desk.mjs";
import { play } from "./play.mjs";

const given = JSON.parse(process.argv[2]);
const desk = await openDesk(given);
const { page } = desk;
const settings = join(given.server, "data/Machine/settings.json");

const pane = page.locator(".pane", { has: page.locator(".pane-header", { hasText: "Sessions" }) });
const rows = pane.locator(".monaco-list-row");
const row = (text) => rows.filter({ hasText: text }).first();
const texts = async () => (await rows.allInnerTexts()).map((text) => text.replaceAll("\n", " "));
const title = (name) => pane.locator(`.pane-header .action-label[aria-label*="${name}"]`);
const message = pane.locator(".message");

/** A button of a line, which is there while the pointer is. */
async function press(text, name) {
  await row(text).hover();
  await row(text).locator(`.action-label[aria-label*="${name}"]`).click();
}

/** Choose from a line's menu, again where the list was just read anew under it. */
async function menu(text, name) {
  await desk.until(`${name} of ${text}`, async () => {
    await row(text).click({ button: "right" });
    // A menu that has just opened takes no click.
    await page.locator(".context-view .action-item", { hasText: name }).first().hover();
    await page.keyboard.press("Enter");
    await page.waitForTimeout(500);
    const refused = await desk.toast("please choose again").isVisible();
    if (refused) await desk.run("Clear All Notifications", "Notifications");
    return !refused;
  });
}

const dialog = page.locator(".monaco-dialog-box");

async function search(words) {
  await pane.locator(".pane-header").hover();
  await title("Search Sessions").click();
  await page.locator(".quick-input-message", { hasText: "Quotes hold words together." }).waitFor();
  await desk.fill("Search Sessions", words);
  await desk.until(`${words} to be looked for`, async () => {
    const told = await message.innerText().catch(() => "");
    return told.startsWith(`“${words}”: `) && !told.includes("searching");
  });
}

await play(desk, {
  async "one that is found before any was listed is opened here, behind a link as it stands"() {
    await desk.figures();
    await desk.turn("read a.txt");
    const { used } = await desk.figures();
    await desk.run("New Session");
    await desk.until("an empty session", async () => (await desk.figures()).about);
    await desk.turn("read numbers.txt");
    await desk.run("Search Sessions");
    await desk.fill("Search Sessions", "a.txt");
    await row("read a.txt").click();
    await desk.until("the session that was found", async () => (await desk.figures()).used === used);
    await pane.locator(".pane-header").hover();
    await title("Clear Search").click();
    await row("read numbers.txt").click();
    await desk.until("the other session", async () => (await desk.figures()).used !== used);
  },

  async "the folder's sessions are listed with age and cost, and those of other folders below"() {
    await desk.run("Focus on Sessions View");
    await row("read a.txt").waitFor();
    await row("read numbers.txt").waitFor();
    await row("Other folders").click();
    await row("elsewhere").click();
    await row("Where is the haystack?").waitFor();
    await desk.picture("listed");
    const shown = await texts();
    assert.match(shown[0], /^read numbers\.txt ?(now|1 min)/);
    assert.match(shown[3], /^elsewhere ?41 sessions · /);
    await row("Other folders").click();
  },

  async "one is opened by a click, and renamed in its line"() {
    const { used } = await desk.figures();
    await row("read a.txt").click();
    await desk.until("the other session", async () => (await desk.figures()).used !== used);
    await row("read a.txt").locator(".codicon-comment-discussion").waitFor();
    await press("read a.txt", "Rename Session");
    await desk.fill("Rename Session", "The three numbers, and a title that is longer than any narrow view has room for");
    await row("The three numbers").waitFor();
    await desk.picture("renamed");
  },

  async "words are found in all sessions, and a match leads to its place in the chat"() {
    await search("four five");
    await row("three four five").waitFor();
    assert.match(await message.innerText(), /^“four five”: 1 session$/);
    assert.equal(await row("three four five").locator(".highlight").first().innerText(), "four five");
    assert.match(await row("three four five").innerText(), /tool call|answer/, "who said it");
    await desk.picture("found");
    await row("three four five").click();
    const chat = await desk.view("chat");
    await chat.locator(".revealed").waitFor();
    await desk.picture("revealed");
    assert.match(await chat.locator(".revealed").innerText(), /five/);
  },

  async "a match of another folder is opened in a window of that folder"() {
    await search("haystack");
    await desk.until("a page", async () => (await message.innerText()) === "“haystack”: 30 sessions");
    await desk.picture("many");
    await row("Where is the haystack?").click();
    await dialog.waitFor();
    await desk.picture("elsewhere");
    assert.deepEqual((await dialog.locator(".monaco-button").allInnerTexts()).sort(), ["Cancel", "Open Folder"]);
    await dialog.locator(".monaco-button", { hasText: "Cancel" }).click();
    await pane.locator(".monaco-list").focus();
    await page.keyboard.press("End");
    await row("Search older sessions").click();
    await desk.until("the rest", async () => (await message.innerText()) === "“haystack”: 41 sessions");
    await search("nowhere");
    assert.equal(await message.innerText(), "“nowhere”: in no session");
    await desk.picture("nothing");
    await pane.locator(".pane-header").hover();
    await title("Clear Search").click();
    await row("Other folders").waitFor();
    assert.equal(await message.isVisible(), false);
  },

  async "it is forked and archived by its menu, and deleted when that is said"() {
    await menu("read numbers.txt", "Fork");
    await row("(fork)").waitFor();
    await row("(fork)").click({ button: "right" });
    await desk.picture("menu");
    await page.keyboard.press("Escape");
    await press("(fork)", "Delete Session");
    await dialog.waitFor();
    await desk.picture("deleting");
    await dialog.locator(".monaco-button", { hasText: "Cancel" }).click();
    await press("(fork)", "Delete Session");
    await dialog.locator(".monaco-button", { hasText: /^Delete$/ }).click();
    await row("(fork)").waitFor({ state: "detached" });
    await row("(empty)").waitFor();
    await menu("read numbers.txt", "Archive…");
    await dialog.getByText("Archive “read numbers.txt”?").waitFor();
    await dialog.locator(".monaco-button", { hasText: "Archive" }).click();
    await desk.toast("Archived to").waitFor();
    await row("read numbers.txt").waitFor({ state: "detached" });
  },

  async "one in which a turn runs is deleted once that is said too"() {
    await row("The three numbers").click();
    const chat = await desk.view("chat");
    // It is gone to last, which closes a palette that was opened before.
    await chat.locator("textarea:focus").waitFor();
    await desk.send("run `sleep 60`");
    await chat.locator(".question").waitFor();
    await press("The three numbers", "Delete Session");
    await dialog.locator(".monaco-button", { hasText: /^Delete$/ }).click();
    await dialog.locator(".monaco-button", { hasText: "Stop and Delete" }).click();
    await row("The three numbers").waitFor({ state: "detached" });
  },

  async "it is read in the light and in little room, too"() {
    for (const words of ["read a.txt", "explain what the story in the file says about the trains of the first days"]) {
      await desk.run("New Session");
      await desk.until("an empty session", async () => (await desk.figures()).about);
      await desk.turn(words);
    }
    await desk.configure(settings, { "workbench.colorTheme": "Default Light Modern" });
    await search("read");
    await desk.picture("light");
    await page.setViewportSize({ width: 700, height: 600 });
    await desk.picture("narrow-light");
    await desk.configure(settings, { "workbench.colorTheme": "Default Dark Modern" });
    await pane.locator(".pane-header").hover();
    await title("Clear Search").click();
    await row("Other folders").hover();
    await desk.picture("narrow-dark");
  },
});
