// What a turn changed is reviewed in the real editor: each file and each hunk is kept or taken back on its own.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDesk } from "./desk.mjs";
import { play } from "./play.mjs";

const given = JSON.parse(process.argv[2]);
const desk = await openDesk(given);
const { page } = desk;
const story = readFileSync(join(given.workspace, "story.md"), "utf8");
const disk = (name) => readFileSync(join(given.workspace, name), "utf8");
const file = (chat, name) => chat.locator(".reviewed", { hasText: name }).last();
const hunks = (chat, name) => file(chat, name).locator(".hunk");

await play(desk, {
  async "a turn's end lists its files, and a file unfolds to its hunks"() {
    await desk.figures();
    const chat = await desk.openChat();
    await desk.say(chat, "replace `day 3 Anna` with `day 3 Eve` in story.md then replace `day 40 Anna` with `day 40 Eve` in story.md then create made.txt with `by the agent`");
    await file(chat, "made.txt").waitFor();
    await chat.locator(".working").waitFor({ state: "hidden" });
    await file(chat, "story.md").getByRole("button", { name: /^story.md, 2 lines added/ }).click();
    await desk.until("two hunks", async () => (await hunks(chat, "story.md").count()) === 2);
    assert.match(await hunks(chat, "story.md").nth(0).innerText(), /Line 5[^]*-On day 3 Anna[^]*\+On day 3 Eve/);
    await desk.picture("hunks");
  },

  async "one hunk is taken back, another kept, and the taking back undone"() {
    const chat = await desk.view("chat");
    const [third, fortieth] = [story.replace("day 3 Anna", "day 3 Eve"), story.replace("day 40 Anna", "day 40 Eve")];
    await hunks(chat, "story.md").nth(0).getByRole("button", { name: "Take Back" }).click();
    await desk.until("the first hunk to go", () => disk("story.md") === fortieth);
    await desk.until("one hunk", async () => (await hunks(chat, "story.md").count()) === 1);
    await desk.picture("one-taken-back");
    await file(chat, "story.md").getByRole("button", { name: "Undo" }).click();
    await desk.until("two hunks again", async () => (await hunks(chat, "story.md").count()) === 2);
    await hunks(chat, "story.md").nth(1).getByRole("button", { name: "Take Back" }).click();
    await desk.until("the second hunk to go", () => disk("story.md") === third);
    await desk.until("one hunk", async () => (await hunks(chat, "story.md").count()) === 1);
    await hunks(chat, "story.md").getByRole("button", { name: "Keep" }).click();
    await file(chat, "story.md").getByText("kept").first().waitFor();
    await file(chat, "made.txt").getByRole("button", { name: "Take back made.txt" }).click();
    await desk.until("the file to go", () => !existsSync(join(given.workspace, "made.txt")));
    await file(chat, "made.txt").getByRole("button", { name: "Undo" }).waitFor();
    // It would bring the file again, too.
    assert.equal(await file(chat, "story.md").locator("button", { hasText: "Undo" }).count(), 0);
    await desk.picture("taken-back");
    await file(chat, "made.txt").getByRole("button", { name: "Undo" }).click();
    await desk.until("the file again", () => existsSync(join(given.workspace, "made.txt")));
    assert.equal(disk("story.md"), third);
    await file(chat, "story.md").locator("button", { hasText: "Undo" }).waitFor({ state: "attached" });
    await file(chat, "made.txt").getByRole("button", { name: "Take back made.txt" }).click();
    await desk.until("the file to go", () => !existsSync(join(given.workspace, "made.txt")));
    await file(chat, "made.txt").getByRole("button", { name: "Undo" }).waitFor();
  },

  async "what was kept is known when the chat was hidden, and after a reload"() {
    await desk.run("Show Explorer", "View");
    const again = await desk.openChat();
    await file(again, "story.md").waitFor();
    await file(again, "story.md").getByRole("button", { name: /^story.md/ }).click();
    await desk.until("the kept hunk", async () => (await hunks(again, "story.md").allInnerTexts()).join().includes("kept"));
    await page.reload();
    await desk.figures();
    const reloaded = await desk.openChat();
    await file(reloaded, "story.md").getByRole("button", { name: /^story.md/ }).click();
    await desk.until("the kept hunk", async () => (await hunks(reloaded, "story.md").allInnerTexts()).join().includes("kept"));
  },

  async "where the user changed the same line, taking the file back asks"() {
    const chat = await desk.view("chat");
    const mine = disk("story.md").replace("day 3 Eve", "day 3 Mary");
    writeFileSync(join(given.workspace, "story.md"), mine);
    await file(chat, "story.md").getByRole("button", { name: "Take back story.md" }).click();
    await desk.choose("You changed these files", "Overwrite", "conflict");
    await desk.until("the story as it was", () => disk("story.md") === story);
    await file(chat, "story.md").getByText("Taken back.", { exact: true }).waitFor();
  },

  async "in a narrow, dark window"() {
    const chat = await desk.view("chat");
    await desk.configure(join(given.server, "data/Machine/settings.json"), { "workbench.colorTheme": "Default Dark Modern" });
    await page.setViewportSize({ width: 700, height: 600 });
    await desk.say(chat, "replace `day 3 Anna` with `day 3 Eve` in story.md");
    await chat.locator(".turn").nth(1).locator(".cost:not(:empty)").waitFor();
    const first = chat.locator(".reviewed", { hasText: "story.md" }).first();
    await first.locator(".hunk", { hasText: "kept" }).waitFor();
    assert.match(await first.innerText(), /\+2\s+−2/);
    await file(chat, "story.md").getByRole("button", { name: /^story.md/ }).click();
    await hunks(chat, "story.md").first().waitFor();
    await desk.picture("narrow");
  },

  async "of equal hunks each is kept alone, and what is kept is known after a reload"() {
    const block = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
    writeFileSync(join(given.workspace, "twins.txt"), block.repeat(3));
    const chat = await desk.view("chat");
    await desk.say(chat, `call write_file ${JSON.stringify({ path: "twins.txt", content: block.replace("four", "4").repeat(3) })}`);
    await file(chat, "twins.txt").getByRole("button", { name: /^twins.txt, 3 lines added/ }).click();
    const kept = async (view) => (await hunks(view, "twins.txt").evaluateAll((all) => all.map((one) => one.classList.contains("kept")))).join();
    const press = (nth, name) => hunks(chat, "twins.txt").nth(nth).getByRole("button", { name }).click();
    await desk.until("three hunks", async () => (await kept(chat)) === "false,false,false");
    await press(1, "Keep");
    await desk.until("one to be kept", async () => (await kept(chat)) === "false,true,false");
    // What is the second then was the third.
    await press(0, "Take Back");
    await desk.until("the first to go", async () => (await kept(chat)) === "false,false");
    await press(1, "Keep");
    await desk.until("the last to be kept", async () => (await kept(chat)) === "false,true");
    // A window that ends at once loses what its storage was told within the last second.
    await desk.say(chat, "list files");
    await chat.locator(".working").waitFor({ state: "hidden" });
    await chat.locator(".turn").last().locator(".cost:not(:empty)").waitFor();
    await page.reload();
    await desk.figures();
    const reloaded = await desk.openChat();
    await file(reloaded, "twins.txt").getByRole("button", { name: /^twins.txt/ }).click();
    await desk.until("the same", async () => (await kept(reloaded)) === "false,true");
  },
});
