// A conversation in the chat's page: what streams, what folds, what is asked, and what the keys do.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { openPage, play } from "./page.mjs";

const given = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { said } = given;
const view = await openPage(given, "chat");
const { page } = view;
const input = page.getByRole("textbox", { name: "Message to Sidecar" });
// How the daemon cuts a text depends on the machine: here it comes by a few letters.
const [first, second] = said.turns.map((turn) => turn.flatMap(inPieces));
const asked = first.findIndex(({ title }) => title === "Edit greeting.py") + 1;
// The chunk after which the answer's first paragraph is whole.
let text = "";
const answered = first.findIndex(({ content }) => (text += content?.text ?? "").includes("What I changed:\n\n1"));

function inPieces(update) {
  if (!update.content?.text) return [update];
  return update.content.text.match(/[^]{1,20}/g).map((text) => ({ ...update, content: { ...update.content, text } }));
}

/** The conversation as it is read, without what only one that watched can know. */
const read = async () => (await page.locator(".turns").innerText()).replace(/Thought for \d+ s/g, "Thought").replace("meanwhile", "").replace(/\n\s*(?=\n)/g, "");

const inSight = (locator) => locator.evaluate((element) => {
  const [{ top, bottom }, within] = [element, document.querySelector(".transcript")].map((each) => each.getBoundingClientRect());
  return top >= within.top - 1 && bottom <= within.bottom + 1;
});

const updates = (all) => ({ type: "updates", updates: all });
const ready = { type: "ready", readOnly: false, model: "claude-sonnet-4-6" };
let live = "";

const steps = {
  async "an empty chat says what it is for, and has room to type"() {
    assert.deepEqual(await view.sent("shown"), [{ type: "shown" }]);
    await page.getByText("Loading…").waitFor();
    assert.ok(await page.getByText("go between turns").isHidden());
    await view.post({ type: "kept", kept: { text: "", pictures: [], sent: [] } }, { type: "daemon", state: "ready", message: "", trusted: true }, { type: "session", sessionId: "s" }, ready, { type: "meter", meter: said.meter });
    await page.getByText("go between turns").waitFor();
    assert.ok((await input.boundingBox()).height > 15);
    assert.ok(await page.getByText("Loading…").isHidden());
    const ways = ["Switch Model…", "Import Session…", "Take the Tour"];
    for (const name of ways) await page.getByRole("button", { name }).click();
    assert.deepEqual((await view.sent("run")).map(({ command }) => command), ["switchModel", "import", "tour"]);
    await view.pictures("empty");
  },

  async "an empty chat says that there is no key, and any that the folder is not trusted"() {
    const [key, trust] = ["Set API Key…", "Manage Trust…"].map((name) => page.getByRole("button", { name }));
    assert.deepEqual([await key.isVisible(), await trust.isVisible()], [false, false]);
    await view.post({ type: "daemon", state: "ready", message: "", trusted: false }, { ...ready, model: "offline" });
    await view.pictures("beginner");
    await page.setViewportSize({ width: 280, height: 460 });
    const [above, below] = await Promise.all([".transcript", ".foot"].map((part) => page.locator(part).boundingBox()));
    assert.ok(above.y + above.height <= below.y + 1);
    const front = await page.locator(".distrusted").evaluate((element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      return [0.1, 0.9].every((at) => element.contains(document.elementFromPoint(left + width / 2, top + height * at)));
    });
    assert.ok(front && (await page.getByText("go between turns").evaluate((element) => element.getBoundingClientRect().bottom <= document.querySelector(".transcript").getBoundingClientRect().bottom)), "nothing stands on anything");
    await view.pictures("beginner-low", "dark");
    await page.setViewportSize({ width: 400, height: 760 });
    await key.click();
    await trust.click();
    assert.deepEqual(await view.sent("run"), [{ type: "run", command: "setApiKey" }, { type: "run", command: "trust" }]);
    await view.post({ type: "daemon", state: "ready", message: "", trusted: true }, ready);
    assert.deepEqual([await key.isVisible(), await trust.isVisible()], [false, false]);
  },

  async "Shift and Enter begin a line, Enter sends, and Escape stops"() {
    await input.focus();
    await page.keyboard.type("one");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("two");
    assert.deepEqual(await view.sent("send"), []);
    await page.keyboard.press("Enter");
    assert.deepEqual(await view.sent("send"), [{ type: "send", text: "one\ntwo", pictures: [], without: [], steer: false }]);
    assert.equal(await input.inputValue(), "");
    await page.keyboard.press("Escape");
    assert.deepEqual(await view.sent("cancel"), []);
    await view.post({ type: "busy", busy: true });
    assert.equal(await view.said(), "Sidecar is working.");
    await page.keyboard.type("also this");
    await page.keyboard.press("Enter");
    assert.deepEqual(await view.sent("send"), [{ type: "send", text: "also this", pictures: [], without: [], steer: true }]);
    await page.keyboard.press("Escape");
    assert.deepEqual(await view.sent("cancel"), [{ type: "cancel" }]);
  },

  async "thinking comes folded, and unfolds by Enter"() {
    await view.post(updates(first.slice(0, asked)));
    const thought = page.getByRole("button", { name: /^Thought.* Who calls greet\?/ });
    assert.equal(await thought.getAttribute("aria-expanded"), "false");
    assert.ok(!(await page.getByText("It is one place.").isVisible()));
    await thought.focus();
    await page.keyboard.press("Enter");
    assert.equal(await thought.getAttribute("aria-expanded"), "true");
    assert.ok(await page.getByText("It is one place.").isVisible());
    await page.keyboard.press("Enter");
    assert.ok(!(await page.getByText("It is one place.").isVisible()));
  },

  async "tool calls say how they stand"() {
    await page.getByRole("button", { name: "Read greeting.py, done" }).waitFor();
    await page.getByRole("button", { name: "Edit greeting.py, waiting" }).waitFor();
  },

  async "a call that needs permission is asked for above the input, and answered by keys"() {
    const [{ toolCall, options }] = said.questions;
    await view.post({ type: "questions", questions: [{ id: 7, toolCall, options }] });
    assert.match(await view.said(), /asks for permission: Edit greeting.py/);
    await page.getByRole("group", { name: "May this be changed? Edit greeting.py" }).waitFor();
    await page.getByRole("button", { name: "Edit greeting.py, waits for your permission" }).waitFor();
    assert.deepEqual(await page.locator(".transcript").getByText(/permission/).and(page.locator(":not(.spoken)")).allInnerTexts(), [], "the question alone says that it asks");
    await input.fill("see @g");
    await view.post({ type: "found", query: "g", files: [...Array(30).keys()].map((number) => `src/greeting${number}.py`) });
    const [list, question] = await Promise.all([".suggestions", ".questions"].map((each) => page.locator(each).boundingBox()));
    assert.ok(question.y + question.height <= list.y, "what is offered covers no question");
    await view.pictures("asking-files", "dark");
    await input.fill("");
    const lines = (await page.locator(".question pre.diff .line").allInnerTexts()).map((line) => line.trimEnd());
    assert.ok(lines.includes('-    return "Hello, " + name') && lines.includes("+def greet(name=None):"), lines.join("\n"));
    assert.ok(lines.includes(' """Greets people."""'), "lines around it");
    await page.locator(".question button:enabled").last().waitFor();
    await view.pictures("asking");
    await page.setViewportSize({ width: 170, height: 700 });
    for (const target of [".question .target", ".tool .target"]) {
      const { width, right } = await page.locator(target).last().evaluate((element) => element.getBoundingClientRect());
      assert.ok(width > 40 && right < 170, `${target} can be read in the narrowest bar`);
    }
    await view.pictures("asking-narrow", "dark", "light");
    await page.setViewportSize({ width: 400, height: 760 });
    const until = await page.locator(".question button").evaluateAll((all) => all.filter(({ title }) => title.startsWith("Until the session is closed")).map(({ textContent }) => textContent));
    assert.ok(until.length > 0 && until.every((name) => name.startsWith("Always ")), "how long it holds");
    await input.focus();
    await view.tabTo("Allow once", "Shift+Tab");
    await page.keyboard.press("Enter");
    assert.deepEqual(await view.sent("answer"), [{ type: "answer", id: 7, optionId: "allow_once" }]);
    assert.equal(await page.locator(".question").count(), 0);
    assert.equal(await page.evaluate(() => document.activeElement.tagName), "TEXTAREA");
    await view.post({ type: "questions", questions: [] });
  },

  async "questions show the whole command, every option by its name, and each takes its own answer"() {
    const kinds = ["allow_once", "allow_always", "allow_always", "reject_once"];
    const options = kinds.map((kind, number) => ({ optionId: `o${number}`, name: `Answer ${number}`, kind }));
    const commands = ["echo \u202e one\nrm -f " + "x".repeat(300), "echo two\u001b[8m"];
    const questions = commands.map((command, index) => {
      return { id: 20 + index, options, toolCall: { toolCallId: `p${index}`, title: `Run in sub: ${command}`, kind: "execute", rawInput: { command, cwd: "sub" }, _meta: { sidecar: { why: `rule ${index} does not cover it` } } } };
    });
    await view.post({ type: "questions", questions });
    assert.deepEqual(await page.locator(".question .why").allTextContents(), ["rule 0 does not cover it", "rule 1 does not cover it"]);
    const cards = page.locator(".question");
    assert.deepEqual(await cards.locator("pre.command").allTextContents(), ["echo \\u{202e} one\nrm -f " + "x".repeat(300), "echo two\\u{1b}[8m"]);
    assert.equal(await cards.nth(0).getByRole("button").count(), 5);
    await view.pictures("two-questions");
    await cards.nth(1).getByRole("button", { name: "Answer 2" }).click();
    await cards.nth(0).getByRole("button", { name: "Answer 3" }).click();
    const sent = await view.sent("answer");
    assert.deepEqual(sent.map(({ id, optionId }) => [id, optionId]), [[21, "o2"], [20, "o3"]]);
    await view.post({ type: "questions", questions: [] });
  },

  async "a question names the tool unless that is the shell alone"() {
    const question = (id, title, rawInput) => ({ id, options: [{ optionId: "o", name: "Allow once", kind: "allow_once" }], toolCall: { toolCallId: `p${id}`, title, kind: "execute", rawInput } });
    const command = "ls -la";
    const far = `Subtask “Look through the source…”: mcp__${"database_".repeat(6)}exec`;
    const asked = [[`${far} ls -la`, { command }], ["mcp__prod__exec ls -la", { command }], ["“helper”: Run ls -la", { command }], ["Run ls -la", { command }], ["Read a.txt", { path: "a.txt" }]];
    await view.post({ type: "questions", questions: asked.map(([title, given], index) => question(60 + index, title, given)) });
    assert.deepEqual(await page.locator(".question .asks").allTextContents(), [`May this run?${far} ls -la`, "May this run?mcp__prod__exec ls -la", "May this run?“helper”: Run ls -la", "May this run?", "May this run?Read a.txt"]);
    await view.post({ type: "questions", questions: [] });
  },

  async "a long command is allowed once it was read to its end"() {
    const options = ["allow_once", "reject_once"].map((kind) => ({ optionId: kind, name: kind === "allow_once" ? "Allow once" : "Reject", kind }));
    const command = `git status${"\n".repeat(60)}touch late`;
    await view.post({ type: "questions", questions: [{ id: 70, options, toolCall: { toolCallId: "long", title: `Run ${command}`, kind: "execute", rawInput: { command } } }] });
    const [allow, reject, end] = [page.getByRole("button", { name: "Allow once" }), page.getByRole("button", { name: "Reject", exact: true }), page.getByText("Scroll to the end of what is asked")];
    await page.locator(".question button:enabled").first().waitFor();
    assert.deepEqual([await allow.isEnabled(), await reject.isEnabled(), await end.isVisible()], [false, true, true]);
    await view.pictures("long-command");
    await page.locator("pre.command").evaluate((text) => text.scrollTo(0, text.scrollHeight));
    await page.locator(".question button:enabled", { hasText: "Allow once" }).waitFor();
    assert.equal(await end.isVisible(), false);
    await page.locator("pre.command").evaluate((text) => text.scrollTo(0, 0));
    await allow.click();
    assert.deepEqual((await view.sent("answer")).map(({ optionId }) => optionId), ["allow_once"]);
    await view.post({ type: "questions", questions: [] });
  },

  async "a click on a question that just took another's place answers nothing"() {
    const options = [{ optionId: "o", name: "Allow once", kind: "allow_once" }];
    const question = (id, command) => ({ id, options, toolCall: { toolCallId: `p${id}`, title: `Run ${command}`, kind: "execute", rawInput: { command } } });
    const settled = () => page.locator(".question button:enabled").last().waitFor();
    await view.sent();
    await view.post({ type: "questions", questions: [question(40, "make test")] });
    await settled();
    const { x, y, width, height } = await page.locator(".question button").first().boundingBox();
    await view.post({ type: "questions", questions: [question(40, "make test"), question(41, "curl x")] });
    await page.mouse.click(x + width / 2, y + height / 2);
    assert.deepEqual(await view.sent("answer"), []);
    await settled();
    await page.mouse.dblclick(x + width / 2, y + height / 2);
    assert.deepEqual((await view.sent("answer")).map(({ id }) => id), [41]);
    await view.post({ type: "questions", questions: [] });
  },

  async "whoever is on an answer stays there when another question comes, and whoever went on is left alone"() {
    const options = [{ optionId: "o", name: "Allow once", kind: "allow_once" }];
    const question = (id) => ({ id, options, toolCall: { toolCallId: `p${id}`, title: `Run ${id}`, kind: "execute", rawInput: { command: `${id}` } } });
    const settled = () => page.locator(".question button:enabled").last().waitFor();
    const button = page.locator(".question button").first();
    await view.post({ type: "questions", questions: [question(50)] });
    await settled();
    await button.focus();
    await view.post({ type: "questions", questions: [question(50), question(51)] });
    await view.post({ type: "questions", questions: [question(50), question(51), question(52)] });
    await settled();
    assert.ok(await button.evaluate((element) => element === document.activeElement));
    await view.post({ type: "questions", questions: [question(50), question(51)] });
    await input.focus();
    await settled();
    assert.ok(await input.evaluate((element) => element === document.activeElement));
    await view.post({ type: "questions", questions: [] });
  },

  async "a question shows every field of another's tool, and writes out what is hidden in names, lists and objects"() {
    const tags = "\u{e0068}\u{e0069}";
    const rawInput = { to: "weekly", lines: [`see you${tags}`, "a\u202eb"], "na\u202eme\nto": "", deep: { [`k${tags}`]: "weekly" } };
    const toolCall = { toolCallId: "m", title: "mcp__mail__send weekly", kind: "other", rawInput };
    await view.post({ type: "questions", questions: [{ id: 30, toolCall, options: [{ optionId: "o", name: "Allow once", kind: "allow_once" }] }] });
    const card = page.locator(".question");
    assert.deepEqual(await card.locator(".field .name").allTextContents(), ["to", "lines", "na\\u{202e}me\\nto", "deep"]);
    const values = await card.locator(".field pre").allTextContents();
    assert.deepEqual([values[0], values[2]], ["weekly", '""']);
    assert.match(values[1], /see you\\u\{e0068\}\\u\{e0069\}[^]*a\\u\{202e\}b/);
    assert.match(values[3], /"k\\u\{e0068\}\\u\{e0069\}": "weekly"/);
    assert.doesNotMatch(await card.evaluate((element) => element.outerHTML), /[\u202e\u{e0068}\u{e0069}]/u);
    await view.post({ type: "questions", questions: [] });
  },

  async "an answer streams as Markdown, and what stands is not drawn again"() {
    await view.post(updates(first.slice(asked, answered + 1)));
    const block = page.locator(".markdown .block", { hasText: "The function joined" });
    const before = await block.elementHandle();
    const rest = first.slice(answered + 1);
    assert.ok(rest.length > 0);
    for (const update of rest) await view.post(updates([update]));
    assert.ok(await before.evaluate((element) => element.isConnected));
    assert.equal(await page.locator(".markdown ol > li").count(), 2);
    assert.equal(await page.locator(".code-head", { hasText: "python" }).count(), 1);
    assert.equal(await page.locator(".markdown td.align-right").count(), 2);
    const code = page.locator(".code pre > code");
    assert.equal(await code.textContent(), `def greet(name=None):\n    return f"Hello, {name or 'there'}"\n`, "colours change no letter");
    const colour = (element) => getComputedStyle(element).color;
    const drawn = [code, ...["keyword", "title", "string"].map((kind) => code.locator(`.hljs-${kind}`).first())].map((one) => one.evaluate(colour));
    assert.equal(new Set(await Promise.all(drawn)).size, 4, "code has the theme's colours");
    const boxes = page.locator(".markdown .task > input");
    assert.deepEqual(await boxes.evaluateAll((all) => all.map((each) => [each.checked, each.ariaLabel, each.parentElement.textContent])), [[true, "done", "Mend greet"], [false, "to be done", "Mend <b>part</b>"]]);
    assert.ok(!(await view.said()).includes("The tests pass"), "what streams is not read out");
    await view.post({ type: "busy", busy: false });
    assert.match(await view.said(), /Sidecar is done\. The function joined[^]*The tests pass/);
  },

  async "the newest is in sight until one scrolls up"() {
    const scroll = page.locator(".transcript");
    const left = () => scroll.evaluate((each) => each.scrollHeight - each.scrollTop - each.clientHeight);
    assert.ok((await left()) < 2);
    assert.ok(await page.getByRole("button", { name: "Jump to the newest" }).isHidden());
    await scroll.hover();
    await page.mouse.wheel(0, -2000);
    const jump = page.getByRole("button", { name: "Jump to the newest" });
    await jump.waitFor();
    const at = await left();
    await view.post(updates([{ sessionUpdate: "notice", level: "info", message: "meanwhile" }]));
    assert.ok((await left()) >= at, "what comes does not pull down");
    await input.fill("and also");
    await page.keyboard.press("Enter");
    assert.ok((await left()) < 2, "whoever sends sees what comes");
    await view.sent("send");
    await page.locator(".transcript").hover();
    await page.mouse.wheel(0, -5000);
    await jump.click();
    assert.ok((await left()) < 2);
  },

  async "a second turn shows failures, tasks and its price"() {
    await view.post({ type: "busy", busy: true }, updates(second), { type: "busy", busy: false }, { type: "checkpoints", checkpoints: said.checkpoints });
    await page.getByRole("button", { name: "Read missing.txt, failed" }).waitFor();
    await page.getByRole("button", { name: "Run ls missing; exit 3, failed" }).getByText("exit 3", { exact: true }).waitFor();
    await page.getByText("1 of 3 done").first().waitFor();
    await page.getByText(/^(\$0\.\d{2}|\d\.\d ¢) · 4 requests$/).first().waitFor();
    live = await read();
    await view.pictures("end");
    await page.locator(".transcript").hover();
    await page.mouse.wheel(0, -5000);
    await page.getByRole("button", { name: "Jump to the newest" }).waitFor();
    await view.pictures("turn");
  },

  async "diffs of a call and of a turn open in the editor"() {
    await page.getByRole("button", { name: "Open diff of greeting.py" }).click();
    const [{ change }] = await view.sent("diff");
    assert.equal(change.path, "greeting.py");
    assert.match(change.diff, /^-def greet\(name\):$/m);
    await page.getByRole("button", { name: "Open the turn's changes of summary.md" }).click();
    const [whole] = await view.sent("diff");
    const ids = said.checkpoints.map(({ checkpointId }) => checkpointId);
    assert.deepEqual(whole.change, { path: "summary.md", from: ids.at(-2), to: ids.at(-1) });
  },

  async "an earlier message is edited, with the message before it for a fork"() {
    const messages = said.turns.flat().filter(({ sessionUpdate }) => /_chunk$|^tool_call/.test(sessionUpdate)).map(({ _meta }) => _meta.sidecar.messageId);
    const typed = said.turns[1].find(({ sessionUpdate }) => sessionUpdate === "user_message_chunk")._meta.sidecar.messageId;
    await page.locator(".said", { hasText: "Now summarise" }).getByRole("button", { name: "Edit and send again…" }).focus();
    await view.pictures("edit");
    await page.keyboard.press("Enter");
    const after = messages[messages.indexOf(typed) - 1];
    assert.deepEqual(await view.sent("edit"), [{ type: "edit", messageId: typed, text: "Now summarise notes.txt into summary.md", pictures: [], after }]);
  },

  async "code goes into the editor or, by the agent, into a file"() {
    await page.getByRole("button", { name: "Insert at the cursor" }).click();
    const text = "def greet(name=None):\n    return f\"Hello, {name or 'there'}\"\n";
    assert.deepEqual(await view.sent("insert"), [{ type: "insert", text }]);
    await page.getByRole("button", { name: "Apply to a file…" }).click();
    assert.deepEqual(await view.sent("apply"), [{ type: "apply", text, language: "python" }]);
  },

  async "a file is reviewed hunk by hunk"() {
    const { checkpointId: from } = said.checkpoints.find(({ turnId }) => turnId === said.checkpoints.at(-1).turnId);
    await page.getByRole("button", { name: /^summary.md, 3 lines added/ }).click();
    assert.deepEqual(await view.sent("review"), [{ type: "review", from, path: "summary.md" }]);
    const text = "@@ -1,3 +0,0 @@\n-# Summary\n-\n-Three.\n";
    const hunks = [{ text, name: "a 1" }];
    await view.post({ type: "reviewed", from, path: "summary.md", hunks });
    const hunk = page.getByRole("region", { name: "Change at line 1" });
    assert.deepEqual(await page.locator(".reviewed", { hasText: "summary.md" }).locator(".fold-head .figure").allInnerTexts(), ["+3"], "nothing is said of no lines");
    assert.match(await hunk.innerText(), /\+# Summary/);
    await view.pictures("review");
    await page.setViewportSize({ width: 170, height: 760 });
    await hunk.scrollIntoViewIfNeeded();
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than the page");
    await view.pictures("review-narrow");
    await page.setViewportSize({ width: 400, height: 760 });
    await hunk.getByRole("button", { name: "Take Back" }).click();
    assert.deepEqual(await view.sent("takeBack"), [{ type: "takeBack", from, path: "summary.md", hunks: [text] }]);
    const undos = page.getByRole("button", { name: "Undo", exact: true });
    await view.post({ type: "reviewed", from, path: "summary.md", hunks, undo: "cp_8" });
    await page.getByText("Line 1: taken back.").waitFor();
    await page.getByRole("button", { name: "Take back summary.md" }).click();
    await view.sent("takeBack");
    await view.post({ type: "reviewed", from, path: "summary.md", hunks: [], told: "Nothing is left.", undo: "cp_9" });
    await page.getByText("Taken back.", { exact: true }).waitFor();
    await page.getByRole("button", { name: "summary.md, 3 lines added, 0 removed: review, taken back" }).waitFor();
    await view.pictures("taken-back");
    assert.equal(await undos.count(), 1, "the last alone can be undone");
    await undos.click();
    assert.deepEqual(await view.sent("takeBack"), [{ type: "takeBack", from, path: "summary.md", undo: "cp_9" }]);
    await view.post({ type: "reviewed", from, path: "summary.md", hunks, undo: "" });
    await page.getByText("Line 1: taken back.").waitFor();
    await undos.click();
    assert.deepEqual(await view.sent("takeBack"), [{ type: "takeBack", from, path: "summary.md", undo: "cp_8" }]);
    await page.getByRole("button", { name: /^summary.md, 3 lines added/ }).click();
  },

  async "what unfolds at the lower edge comes into sight"() {
    const { checkpointId: from } = said.checkpoints[0];
    const file = page.locator(".reviewed", { hasText: "greeting.py" });
    await page.locator(".transcript").hover();
    await page.mouse.wheel(0, -5000);
    await file.evaluate((element) => {
      element.scrollIntoView({ block: "end" });
      element.querySelector("button").focus({ preventScroll: true });
    });
    await page.keyboard.press("Enter");
    await view.post({ type: "reviewed", from, path: "greeting.py", hunks: [{ text: "@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n", name: "a 1" }] });
    assert.ok(await inSight(file.getByRole("region")));
    await file.getByRole("button", { name: /^greeting.py/ }).click();
  },

  async "Restore goes back to before a turn, and the prompt comes back into the input"() {
    const restore = page.getByRole("button", { name: "Restore: go back to before “Now summarise" });
    await restore.focus();
    await page.keyboard.press("Enter");
    const begin = said.checkpoints.find(({ title }) => title.startsWith("Now summarise"));
    assert.deepEqual(await view.sent("run"), [{ type: "run", command: "rollBack", argument: begin.checkpointId }]);
    await view.post({ type: "draft", text: "Now summarise notes.txt into summary.md", pictures: [] });
    assert.equal(await input.inputValue(), "Now summarise notes.txt into summary.md");
    assert.equal(await page.evaluate(() => document.activeElement.tagName), "TEXTAREA");
  },

  async "Page Up and Page Down go between turns"() {
    const at = () => page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.querySelector(".spoken")?.textContent);
    await page.getByRole("button", { name: "Read greeting.py, done" }).focus();
    await page.keyboard.press("PageDown");
    assert.match(await at(), /^Turn: Now summarise/);
    await page.keyboard.press("PageUp");
    assert.match(await at(), /^Turn: greet\(None\) fails/);
  },

  async "a view that is opened again gets everything from the daemon, and keeps what was typed"() {
    await page.reload();
    await view.theme("dark");
    assert.equal(await input.inputValue(), "Now summarise notes.txt into summary.md");
    assert.equal(await page.locator(".turn").count(), 0);
    await view.post({ type: "session", sessionId: "s" }, updates(said.replay), ready, { type: "checkpoints", checkpoints: said.checkpoints });
    assert.equal(await read(), live);
    assert.equal(await view.said(), "", "what is replayed is not read out");
  },

  async "what a model writes is text: no HTML, no pictures, links only by a click"() {
    const origin = { sidecar: { turnId: "t", partId: "p", messageId: "m", seq: 9999 } };
    const content = { type: "text", text: '<img src=x onerror="bad()"> ![a](https://example.org/a.png) [here](https://example.org/b)' };
    await view.post(updates([{ sessionUpdate: "agent_message_chunk", content, _meta: origin }]));
    assert.equal(await page.locator(".turn img").count(), 0);
    await page.getByText("<img src=x").waitFor();
    await page.getByRole("link", { name: "here" }).click();
    assert.deepEqual(await view.sent("link"), [{ type: "link", href: "https://example.org/b" }]);
  },

  async "a step that is tried again is withdrawn"() {
    await view.post({ type: "retrying", retrying: { sessionId: "s", attempt: 1, maxAttempts: 5, delayMs: 2000, error: { kind: "overloaded", message: "The provider is overloaded." }, discard: ["p"] } });
    assert.equal(await page.getByText("<img src=x").count(), 0);
    await page.getByText("The provider is overloaded. Trying again in 2 s (1 of 5).").waitFor();
  },

  async "a call whose input comes has no target yet, and one that was rejected says so"() {
    const call = { toolCallId: "late", kind: "edit", _meta: { sidecar: { turnId: "t", partId: "late", messageId: "m", seq: 9999 } } };
    await view.post(updates([{ ...call, sessionUpdate: "tool_call", title: "edit_file", status: "pending" }]));
    await page.getByRole("button", { name: "Edit …, waiting" }).waitFor();
    const denied = { sidecar: { ...call._meta.sidecar, metadata: { failure: "denied" } } };
    await view.post(updates([{ ...call, sessionUpdate: "tool_call_update", title: "Edit late.txt", status: "failed", rawInput: { path: "late.txt" }, rawOutput: "The user refused permission for this call.", _meta: denied }]));
    await page.getByRole("button", { name: "Edit late.txt, rejected" }).getByText("rejected", { exact: true }).waitFor();
  },

  async "small letters in colours stand out from what is behind them"() {
    const pointed = ".fold-line:hover";
    await page.locator(".tool .fold-line", { has: page.locator(".removed") }).first().hover();
    for (const theme of ["dark", "light", "contrast"]) {
      await view.theme(theme);
      for (const figure of [".figure.added", ".figure.removed", ".checkpoint time", `${pointed} .added`, `${pointed} .removed`]) assert.ok((await view.contrast(figure)) >= 4.5, `${figure}, ${theme}`);
      assert.equal(...(await page.locator(pointed).evaluate((line) => [line.querySelector(".target"), document.body].map((each) => getComputedStyle(each).color))), `what is pointed at is not faint, ${theme}`);
    }
    await view.theme("dark");
  },

  async "a command that failed is opened at its end, one that did well at its beginning"() {
    const lines = [...Array(4000).keys()].map((line) => `line ${line}`).join("\n");
    for (const exitCode of [2, 0]) {
      const origin = { sidecar: { turnId: "t", partId: `run${exitCode}`, messageId: "m", seq: 9999, metadata: { exitCode } } };
      await view.post(updates([{ sessionUpdate: "tool_call", toolCallId: `run${exitCode}`, title: `Run make ${exitCode}`, kind: "execute", status: "completed", rawInput: { command: "make" }, rawOutput: lines, _meta: origin }]));
      const line = page.getByRole("button", { name: `Run make ${exitCode}, ` });
      assert.equal(await line.getAttribute("aria-expanded"), String(exitCode !== 0), "what failed is seen");
      if (!exitCode) await line.click();
      const output = page.getByLabel(`Output of Run make ${exitCode}`);
      const [at, text] = await output.evaluate(async (pre) => (await new Promise(requestAnimationFrame), [pre.scrollTop / (pre.scrollHeight - pre.clientHeight), pre.textContent]));
      if (exitCode) assert.match(text, /^\d+ characters before this …[^]*line 3999$/);
      else assert.match(text, /^line 0\n[^]*more characters$/);
      assert.ok(exitCode ? at > 0.98 : at === 0, `${at}`);
    }
    await view.pictures("failed-command", "dark");
    const long = `echo ${"a word and ".repeat(20)}`;
    const begun = { sidecar: { turnId: "t", partId: "long", messageId: "m", seq: 9999, metadata: { exitCode: 1 } } };
    await view.post(updates([{ sessionUpdate: "tool_call", toolCallId: "long", title: `Run ${long}`, kind: "execute", status: "completed", rawInput: { command: long }, rawOutput: "no", _meta: begun }]));
    const whole = await page.locator(".tool .target", { hasText: "echo a word" }).evaluate((name) => name.scrollWidth <= name.clientWidth && name.clientHeight > 30);
    assert.ok(whole, "an unfolded command is read whole");
  },

  async "a compaction is told, and can be taken back"() {
    const told = { sessionUpdate: "compaction_update", compactionId: "cmp_1", cause: "budget", tokensBefore: 84_012, tokensAfter: 31_000, price: null };
    await view.post(updates([{ ...told, status: "completed" }]));
    await page.getByText("Compacted: 84,012 → 31,000 tokens (budget)").last().waitFor();
    await view.pictures("compacted", "dark");
    await page.getByRole("button", { name: "Undo" }).click();
    await view.post(updates([{ ...told, compactionId: "cmp_2", cause: "model", status: "completed" }]));
    await page.getByText("The context, for another model: 84,012 → 31,000 tokens").last().waitFor();
    assert.equal(await page.getByRole("button", { name: "Undo" }).count(), 1, "another model is nothing to take back");
    assert.deepEqual(await view.sent("run"), [{ type: "run", command: "undoCompaction", argument: "cmp_1" }]);
    await view.post(updates([{ ...told, status: "undone" }]));
    assert.equal(await page.getByRole("button", { name: "Undo" }).count(), 0);
    await page.locator(".compaction", { hasText: /^Compaction taken back: 84,012 → 31,000 tokens$/ }).waitFor();
  },

  async "a prompt that was refused is not lost, and a dead daemon is said"() {
    await input.fill("");
    await view.post({ type: "refused", text: "do it", pictures: [], message: "Too many prompts wait for this session." });
    assert.equal(await input.inputValue(), "do it");
    await page.getByRole("alert").getByText("Too many prompts").waitFor();
    await view.post({ type: "daemon", state: "failed", message: "The daemon was not found.", trusted: true });
    await page.getByRole("alert").getByText("was not found").waitFor();
    await view.pictures("failed-daemon", "dark");
    await page.getByRole("button", { name: "Restart" }).click();
    assert.deepEqual(await view.sent("run"), [{ type: "run", command: "restart" }]);
    await view.post({ type: "daemon", state: "ready", message: "", trusted: true });
    assert.ok(await page.locator(".banner").isHidden());
  },

  async "where a key is missing, it can be set"() {
    const usage = { requests: 0 };
    const { turnId, messageId } = said.checkpoints.at(-1);
    const error = { code: -32020, kind: "authentication", message: "there is no API key", retryable: false };
    await view.post(updates([{ sessionUpdate: "turn_ended", turnId, messageId, stopReason: "error", usage, cost: null, error }]));
    await page.locator(".notice", { hasText: "there is no API key" }).getByRole("button", { name: "Set API Key…" }).click();
    assert.deepEqual(await view.sent("run"), [{ type: "run", command: "setApiKey" }]);
  },

  async "a session of another window is only read"() {
    await view.post({ ...ready, readOnly: true });
    assert.ok(await input.isDisabled());
    assert.match(await input.getAttribute("placeholder"), /Another window/);
  },
};

await play(view, steps);
