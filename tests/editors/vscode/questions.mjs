// Calls that run together in the real editor: each question shows what it is about and takes its own answer.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openDesk } from "./desk.mjs";
import { play } from "./play.mjs";

const given = JSON.parse(process.argv[2]);
const desk = await openDesk(given);
const { page } = desk;
const disk = (name) => readFileSync(join(given.workspace, name), "utf8");
const asked = (name) => desk.tab(`${name}: may this be changed?`);
const link = (toast, text) => toast.locator("a", { hasText: text });
/** Wait until no notification about a call is there. */
const unnotified = () => desk.until("no notification", async () => (await page.locator(".notification-list-item", { hasText: "may this run?" }).count()) === 0);

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
    assert.equal(await link(toast, "Allow").count(), 0);
    await desk.picture("hidden");
    await toast.locator(".monaco-button", { hasText: "Show…" }).click();
    await unnotified();
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
    for (const text of ["git status", "b"]) assert.equal(await page.locator(`.notification-list-item-message a:text-is("${text}")`).count(), 0);
    await link(toast, "Reject").first().click();
    await unnotified();
    await desk.idle();
    await desk.send(`call shell {"command": "echo ${"x".repeat(400)}; touch hidden-behind.txt"}`);
    await toast.waitFor();
    assert.equal(await link(toast, "Allow").count(), 0);
    await link(toast, "Reject").first().click();
    await unnotified();
    await desk.idle();
    await desk.send('call shell {"command": "echo 4 # [Reject"}');
    await toast.waitFor();
    assert.equal(await link(toast, "Reject").allInnerTexts().then((all) => all.join()), "Reject,Always reject exactly this");
    await link(toast, "Reject").first().click();
    await desk.idle();
  },

  async "a notification has the answers, comes when the chat is hidden, and goes when one is given elsewhere"() {
    const chat = await desk.openChat();
    await desk.say(chat, 'call shell {"command": "echo 1 > answered.txt"}');
    await chat.locator(".question").waitFor();
    await unnotified();
    await desk.run("Show Explorer", "View");
    const toast = desk.toast("Run echo 1 > answered.txt");
    await link(toast, "Allow once").waitFor();
    await link(toast, "Reject").first().waitFor();
    await desk.picture("answers");
    await page.keyboard.press("Control+Alt+y");
    await desk.until("what was allowed", () => existsSync(join(given.workspace, "answered.txt")));
    await unnotified();
    await desk.idle();
    await desk.send('call shell {"command": "echo 2 > by-link.txt"}');
    await link(desk.toast("Run echo 2 > by-link.txt"), "Allow once").waitFor();
    await page.waitForTimeout(600);
    await link(desk.toast("Run echo 2 > by-link.txt"), "Allow once").click();
    await desk.until("what was allowed", () => existsSync(join(given.workspace, "by-link.txt")));
    await unnotified();
    await desk.idle();
    await desk.send('call shell {"command": "echo 3 > withdrawn.txt"}');
    await link(desk.toast("Run echo 3 > withdrawn.txt"), "Allow once").waitFor();
    await desk.run("Cancel");
    await unnotified();
    await desk.idle();
    await desk.send("replace `eight` with `acht` in numbers.txt");
    await asked("numbers.txt").waitFor();
    await link(desk.toast("Edit numbers.txt"), "Allow once").waitFor();
    await desk.picture("edit");
    await page.waitForTimeout(600);
    await link(desk.toast("Edit numbers.txt"), "Allow once").click();
    await desk.until("the edit", () => disk("numbers.txt").includes("acht"));
    await asked("numbers.txt").waitFor({ state: "detached" });
    await desk.idle();
  },

  async "an edit that is asked about stands in the editor's diff, and is answered by one key"() {
    const chat = await desk.openChat();
    await desk.say(chat, "replace `day 3 Anna` with `day 3 Eve` in story.md");
    await asked("story.md").waitFor();
    const sides = () => page.locator(".monaco-diff-editor .view-lines").allInnerTexts();
    await desk.until("both sides", async () => /day 3 Anna[^]*day 3 Eve/.test((await sides()).join().replaceAll("\u00a0", " ")));
    assert.ok(await chat.evaluate(() => document.hasFocus()), "whoever types goes on");
    await desk.picture("diff");
    await page.keyboard.type("a");
    assert.ok(disk("story.md").includes("day 3 Anna"), "a letter in the chat answers nothing");
    await page.locator(".monaco-diff-editor .view-lines").last().click();
    await page.keyboard.press("a");
    await page.keyboard.press("Control+Enter");
    await desk.until("the edit", () => disk("story.md").includes("day 3 Eve"));
    await asked("story.md").waitFor({ state: "detached" });
    await chat.locator(".question").waitFor({ state: "detached" });
  },

  async "a key in the diff's left side answers that edit, and no older question"() {
    const chat = await desk.view("chat");
    await chat.locator(".working").waitFor({ state: "hidden" });
    await desk.say(chat, 'call shell {"command": "touch older.txt"} and edit_file {"path": "story.md", "oldText": "day 6 Anna", "newText": "day 6 Eve"}');
    await asked("story.md").waitFor();
    await chat.locator(".question").nth(1).waitFor();
    await page.locator(".monaco-diff-editor .view-lines").first().click();
    await page.waitForTimeout(600);
    await page.keyboard.press("Control+Enter");
    await desk.until("the edit", () => disk("story.md").includes("day 6 Eve"));
    await desk.until("the older question alone", async () => (await chat.locator(".question").count()) === 1);
    assert.equal(await chat.locator(".question pre.command").textContent(), "touch older.txt");
    assert.ok(!existsSync(join(given.workspace, "older.txt")));
    await chat.locator(".question button:enabled").first().waitFor();
    await chat.getByRole("button", { name: "Reject", exact: true }).click();
    await chat.locator(".working").waitFor({ state: "hidden" });
  },

  async "one is rejected with words, which the agent is sent"() {
    const chat = await desk.view("chat");
    await chat.locator(".working").waitFor({ state: "hidden" });
    await desk.say(chat, "replace `day 4 Anna` with `day 4 Eve` in story.md");
    await asked("story.md").waitFor();
    await page.locator(".monaco-diff-editor .view-lines").last().click();
    await page.keyboard.press("Control+Backspace");
    await desk.picture("words");
    await desk.fill("Reject “Edit story.md”", "replace `day 5 Anna` with `day 5 Mary` in story.md");
    await chat.locator(".user", { hasText: "day 5 Mary" }).waitFor();
    await asked("story.md").waitFor();
    await chat.getByRole("button", { name: "Allow once" }).click();
    await desk.until("the other edit", () => disk("story.md").includes("day 5 Mary"));
    assert.ok(disk("story.md").includes("day 4 Anna"));
    await asked("story.md").waitFor({ state: "detached" });
  },

  async "one of a session that is left waits in the chat, by its name, and is read before it is allowed"() {
    const chat = await desk.view("chat");
    await chat.locator(".working").waitFor({ state: "hidden" });
    const command = `echo left${"\\n".repeat(60)}touch left.txt`;
    await desk.say(chat, `call shell {"command": "${command}"}`);
    await chat.locator(".question.unread").waitFor();
    assert.equal(await chat.locator(".question .where").textContent(), "");
    await desk.run("New Session");
    await chat.getByText("Another session: ").waitFor();
    await desk.until("its name", async () => /^Another session: call shell/.test(await chat.locator(".question .where").textContent()));
    await desk.picture("left");
    await page.keyboard.press("Enter");
    const allow = chat.getByRole("button", { name: "Allow once" });
    assert.equal(await allow.isEnabled(), false);
    await chat.locator(".question pre.command").evaluate((text) => text.scrollTo(0, text.scrollHeight));
    await chat.locator(".question button:enabled", { hasText: "Allow once" }).click();
    await desk.until("what was allowed", () => existsSync(join(given.workspace, "left.txt")));
    assert.equal(await page.locator(".monaco-dialog-box").count(), 0);
  },

  async "a change of blanks at the edge of a line is told by the diff's title"() {
    const chat = await desk.view("chat");
    await desk.say(chat, 'call edit_file {"path": "story.md", "oldText": "On day 7 Anna", "newText": "  On day 7 Anna"}');
    await desk.tab("story.md: may this be changed? Blanks at lines' edges change, too").waitFor();
    await chat.locator(".question button:enabled").first().waitFor();
    await chat.getByRole("button", { name: "Reject", exact: true }).click();
    await asked("story.md").waitFor({ state: "detached" });
  },

  async "whoever rejects from the chat types on there"() {
    const chat = await desk.view("chat");
    await chat.locator(".working").waitFor({ state: "hidden" });
    await desk.say(chat, "replace `day 6 Anna` with `day 6 Eve` in story.md");
    await chat.getByRole("button", { name: "Reject and say why…" }).click();
    await desk.fill("Reject “Edit story.md”", "");
    await chat.locator(".question").waitFor({ state: "detached" });
    await chat.locator("textarea:focus").waitFor();
  },

  async "always, by the diff's button, asks no more"() {
    const chat = await desk.view("chat");
    await chat.locator(".working").waitFor({ state: "hidden" });
    await desk.say(chat, "create new.txt with `made`");
    await asked("new.txt").waitFor();
    await chat.getByRole("button", { name: "Open diff", exact: true }).waitFor();
    await page.setViewportSize({ width: 760, height: 600 });
    await desk.configure(join(given.server, "data/Machine/settings.json"), { "workbench.colorTheme": "Default Dark Modern" });
    await desk.picture("narrow");
    await page.setViewportSize({ width: 1360, height: 860 });
    await page.locator(".monaco-workbench .title-actions, .editor-actions").getByRole("button", { name: /Allow Always/ }).first().click();
    await desk.until("the file", () => existsSync(join(given.workspace, "new.txt")));
  },
});
