// What a person does in VS Code with Sidecar, from the first look at the meter to a daemon that was killed.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openDesk } from "./desk.mjs";
import { play } from "./play.mjs";

const given = JSON.parse(process.argv[2]);
const desk = await openDesk(given);
const { page } = desk;

/** Change a word in the editor by hand, and save. */
async function edit(word, other) {
  await page.locator(".editor-instance .view-lines span", { hasText: word }).last().dblclick();
  await page.keyboard.press("Home");
  await page.keyboard.press("Shift+End");
  await page.keyboard.type(other);
  await page.keyboard.press("Control+S");
  await desk.until("it on disk", () => disk("numbers.txt").includes(other));
}

function disk(name) {
  return readFileSync(join(given.workspace, name), "utf8");
}

/** The text of numbers.txt, with some lines changed. */
function numbers(changed) {
  const words = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
  return words.map((word, index) => `${changed[index + 1] ?? word}\n`).join("");
}

await play(desk, {
  async "the meter is there"() {
    const { about, percent, shown, zone } = await desk.figures();
    assert.ok(about && percent > 0 && zone === "green", shown);
    assert.match(shown, /~\d+% · 1\.\dk\/12k/);
    await desk.meter.hover();
    const hover = page.locator(".monaco-hover", { hasText: "16,000 in the window" }).first();
    await hover.waitFor();
    const told = await hover.innerText();
    for (const words of ["system prompt", "tools", "Cache: ", "Cost: ", "Compaction: "]) assert.ok(told.includes(words), words);
    await desk.picture("meter");
    await page.mouse.move(600, 300);
  },

  async "a turn edits a file in an open editor tab"() {
    await desk.open("a.txt");
    const before = await desk.figures();
    await desk.turn("replace `two` with `zwei` in a.txt then read story.md");
    await desk.until("the edit", async () => (await desk.text()).includes("zwei"));
    assert.ok((await desk.figures()).percent > before.percent);
    assert.equal(readFileSync(join(given.workspace, "a.txt"), "utf8"), "one\nzwei\nthree\n");
    await desk.until("a tab without unsaved changes", async () => !(await desk.tab("a.txt").getAttribute("class")).includes("dirty"));
    await desk.picture("edited");
  },

  async "undo in the editor takes the edit back"() {
    await page.locator(".editor-instance .view-lines").last().click();
    await page.keyboard.press("Control+Z");
    await desk.until("the old text", async () => (await desk.text()).includes("two"));
    await page.keyboard.press("Control+Shift+Z");
    await desk.until("the new text", async () => (await desk.text()).includes("zwei"));
    await page.keyboard.press("Control+S");
    await desk.until("a saved tab", async () => !(await desk.tab("a.txt").getAttribute("class")).includes("dirty"));
  },

  async "a compaction shows its plan, and the meter falls"() {
    for (const text of ["search for Anna in story.md", "read story.md and a.txt", "search for crowns in story.md"]) {
      await desk.turn(text);
    }
    const before = await desk.figures();
    await desk.picture("full");
    await desk.run("Compact Now");
    await desk.fill("Compact Now", "keep what Anna said");
    await desk.row("Compact to").waitFor();
    assert.match(await desk.row("Compact to").innerText(), /tokens\nfrom [\d,]+; costs [^]*; summary by offline/);
    await desk.picture("plan");
    await desk.pick("Compact to");
    await desk.toast("Compacted from").waitFor();
    await desk.until("the meter to fall", async () => (await desk.figures()).percent < before.percent);
    await desk.picture("compacted");
  },

  async "the compaction is taken back, and the meter rises"() {
    const before = await desk.figures();
    await desk.run("Undo Compaction");
    await desk.toast("The compaction was taken back").waitFor();
    await desk.until("the meter to rise", async () => (await desk.figures()).used > before.used);
  },

  async "going back merges what was edited by hand, after a preview"() {
    await desk.open("numbers.txt");
    await desk.turn("replace `two` with `zwei` in numbers.txt then create made.txt with `by the agent`");
    await desk.until("the edit", async () => (await desk.text()).includes("zwei"));
    await edit("eight", "EIGHT, by hand");
    const before = await desk.figures();
    await desk.run("Roll Back…");
    await desk.row("replace two with zwei in numbers.txt").waitFor();
    await desk.picture("turns");
    await desk.pick("replace two with zwei in numbers.txt");
    await desk.row("Files and conversation").waitFor();
    await desk.picture("scope");
    await desk.pick("Files and conversation");
    await desk.choose("Go back?", "Merge", "preview");
    await desk.toast("Went back").waitFor();
    await desk.until("the merge", () => disk("numbers.txt") === numbers({ 8: "EIGHT, by hand" }));
    assert.ok(!existsSync(join(given.workspace, "made.txt")));
    await desk.drafted("replace `two` with `zwei` in numbers.txt");
    await desk.open("numbers.txt");
    await desk.until("the merge on the screen", async () => /two[^]*EIGHT, by hand/.test(await desk.text()));
    await desk.until("the meter to fall", async () => (await desk.figures()).used < before.used);
    await desk.picture("back");
  },

  async "redo brings it again"() {
    await desk.run("Redo");
    await desk.toast("Redone").waitFor();
    const input = (await desk.view("chat")).getByRole("textbox", { name: "Message to Sidecar" });
    await desk.until("no message that was sent", async () => (await input.inputValue()) === "");
    await desk.until("the agent's edit beside ours", () => disk("numbers.txt") === numbers({ 2: "zwei", 8: "EIGHT, by hand" }));
    await desk.until("it on the screen", async () => (await desk.text()).includes("zwei"));
    assert.equal(disk("made.txt"), "by the agent\n");
    await desk.picture("redone");
    await desk.run("Redo");
    await desk.toast("Sidecar: nothing was restored that could be taken back").waitFor();
  },

  async "a redo is asked about where something came after going back"() {
    const input = (await desk.view("chat")).getByRole("textbox", { name: "Message to Sidecar" });
    const back = async () => {
      await desk.run("Roll Back…");
      await desk.pick("replace six with sechs");
      await desk.pick("Files and conversation");
      await desk.choose("Go back?", "Go Back");
      await desk.until("the line as it was", () => disk("numbers.txt") === numbers({ 2: "zwei", 8: "EIGHT, by hand" }));
      await desk.drafted("replace `six` with `sechs` in numbers.txt");
      await input.fill("");
    };
    await desk.turn("replace `six` with `sechs` in numbers.txt");
    await back();
    await desk.turn("replace `seven` with `sieben` in numbers.txt");
    await desk.run("Redo");
    await desk.row("Leaves the conversation: all from “replace seven with sieben in numbers.txt” on.").waitFor();
    await desk.row("numbers.txt: ").waitFor();
    await desk.picture("redo-asked");
    await page.keyboard.press("Escape");
    await desk.run("Roll Back…");
    await desk.row("replace seven with sieben").waitFor();
    assert.equal(disk("numbers.txt"), numbers({ 2: "zwei", 7: "sieben", 8: "EIGHT, by hand" }));
    await page.keyboard.press("Escape");
    await desk.run("Redo");
    await desk.choose("Redo? Something came after", "Redo");
    await desk.until("the line that was left", () => disk("numbers.txt") === numbers({ 2: "zwei", 6: "sechs", 8: "EIGHT, by hand" }));
    await desk.drafted("replace `seven` with `sieben` in numbers.txt");
    await input.fill("");
    await back();
  },

  async "where both changed the same line, the user chooses"() {
    await desk.turn("replace `five` with `cinq` in numbers.txt");
    await desk.until("the edit", async () => (await desk.text()).includes("cinq"));
    await edit("cinq", "funf, by hand");
    await desk.run("Roll Back…");
    await desk.pick("replace five with cinq");
    await desk.pick("Files only");
    await desk.choose("You changed these files", "Overwrite", "conflict");
    await desk.toast("Went back").waitFor();
    await desk.until("the old line", () => disk("numbers.txt") === numbers({ 2: "zwei", 8: "EIGHT, by hand" }));
    await desk.run("Redo");
    await desk.until("the line of the user again", () => disk("numbers.txt") === numbers({ 2: "zwei", 5: "funf, by hand", 8: "EIGHT, by hand" }));
  },

  async "a reload finds the session again"() {
    const { used } = await desk.figures();
    await page.reload();
    await page.locator(".monaco-workbench .statusbar").waitFor();
    await desk.until("the same meter", async () => (await desk.figures()).used === used);
    await desk.run("Roll Back…");
    await desk.row("replace five with cinq").waitFor();
    await page.keyboard.press("Escape");
    await desk.picture("reloaded");
  },

  async "a daemon that was killed comes back with the session"() {
    const pids = () => readFileSync(given.pids, "utf8").trim().split("\n").map((line) => Number(line.split(" ")[0]));
    const before = pids();
    const { used } = await desk.figures();
    process.kill(before.at(-1), "SIGKILL");
    await desk.until("another daemon", () => pids().length > before.length);
    await desk.until("the same meter", async () => (await desk.figures()).used === used);
    await desk.turn("read numbers.txt");
    await desk.picture("restarted");
  },
});
