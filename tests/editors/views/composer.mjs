// The input of the chat's page: what was sent before, commands, chips, pictures, and what survives a reload.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { openPage, play } from "./page.mjs";

const given = JSON.parse(readFileSync(process.argv[2], "utf8"));
const view = await openPage(given, "chat");
const { page } = view;
const input = page.getByRole("textbox", { name: "Message to Sidecar" });
const options = page.getByRole("option");
const told = page.locator(".told");
const chip = (text) => page.locator(".attached", { hasText: text });
const ready = [{ type: "session", sessionId: "s" }, { type: "ready", readOnly: false, model: "offline" }];
const shown = {
  file: { label: "greeter.py", said: "the open file src/greeter.py" },
  others: { label: "2 more open", said: "the other open files: a.txt, b.txt" },
  selection: { label: "lines 3–5", said: "the selection, lines 3–5 of src/greeter.py" },
};

/** Press keys and wait until the page has done what they do. */
async function press(...keys) {
  for (const key of keys) {
    await page.keyboard.press(key);
    await page.evaluate(() => new Promise((done) => setTimeout(done, 5)));
  }
}

async function say(text) {
  await input.fill(text);
  await press("Enter");
}

/** Let a picture of this size come in, as a paste or a drop does. */
async function bring(kind, width, height, type = "image/png") {
  await input.evaluate(async (element, [kind, width, height, type]) => {
    const canvas = new OffscreenCanvas(width, height);
    const drawn = canvas.getContext("2d");
    drawn.fillStyle = "tomato";
    drawn.fillRect(0, 0, width / 2, height);
    const data = new DataTransfer();
    data.items.add(type === "image/png" ? new File([await canvas.convertToBlob({ type })], "a.png", { type }) : new File(["no picture"], "broken.png", { type: "image/png" }));
    const event = kind === "paste" ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }) : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
    element.dispatchEvent(event);
  }, [kind, width, height, type]);
}

/** The size of a picture that was sent. */
const size = ({ data, mimeType }) => page.evaluate(async ([data, type]) => {
  const { width, height } = await createImageBitmap(new Blob([Uint8Array.from(atob(data), (each) => each.charCodeAt(0))], { type }));
  return [width, height];
}, [data, mimeType]);

const steps = {
  async "the arrow keys bring back what was sent, and the draft after it"() {
    await view.post({ type: "kept", kept: { text: "", pictures: [], sent: [] } }, ...ready);
    await input.focus();
    await press("ArrowUp");
    assert.equal(await input.inputValue(), "", "nothing was sent yet");
    for (const text of ["first", "second\nof two lines", "third", "first"]) await say(text);
    await input.fill("a draft\nof two lines");
    await press("ArrowUp");
    assert.equal(await input.inputValue(), "a draft\nof two lines", "the caret moves within the text first");
    await press("ArrowUp");
    assert.equal(await input.inputValue(), "first");
    await press("ArrowUp", "ArrowUp");
    assert.equal(await input.inputValue(), "second\nof two lines");
    await press("ArrowUp");
    assert.equal(await input.inputValue(), "second\nof two lines", "what was sent twice stands once, and this is the first");
    await press("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown");
    assert.equal(await input.inputValue(), "a draft\nof two lines");
  },

  async "a draft that nobody changed gives way to the next, and what was typed does not"() {
    const draft = (text) => view.post({ type: "draft", text, pictures: [] });
    await draft("rolled back");
    assert.equal(await input.inputValue(), "rolled back\n\na draft\nof two lines");
    await draft("rolled back further");
    assert.equal(await input.inputValue(), "rolled back further");
    await draft("");
    assert.equal(await input.inputValue(), "", "it was redone");
    await input.fill("a draft\nof two lines");
    await draft("");
    assert.equal(await input.inputValue(), "a draft\nof two lines");
  },

  async "what was said in a session counts, and what was sent survives a reload"() {
    const origin = { sidecar: { turnId: "t", partId: "p", messageId: "m", seq: 1 } };
    await page.reload();
    await view.theme("dark");
    assert.equal(await input.inputValue(), "a draft\nof two lines");
    const update = { sessionUpdate: "user_message_chunk", content: { type: "text", text: "said in Neovim" }, _meta: origin };
    await view.post(ready[0], { type: "updates", updates: [update] }, ready[1]);
    await input.fill("");
    await press("ArrowUp");
    assert.equal(await input.inputValue(), "said in Neovim");
    await press("ArrowUp");
    assert.equal(await input.inputValue(), "first");
    await input.fill("");
    await view.sent();
  },

  async "what the extension kept comes back where the page has nothing of its own"() {
    await view.sent();
    await say("first");
    const { sent } = (await view.sent("keep")).map(({ kept }) => kept).find((kept) => kept.sent);
    assert.deepEqual(sent, ["first", "second\nof two lines", "third", "first", "first"]);
    await input.fill("typed");
    await page.waitForFunction(() => window.sent.some(({ type, kept }) => type === "keep" && kept.text === "typed"));
    const [{ kept: typed }] = (await view.sent("keep")).slice(-1);
    assert.deepEqual(typed, { text: "typed" }, "what was sent, and pictures, are as before");
    const kept = { ...typed, sent };
    await view.post({ type: "kept", kept: { ...kept, pictures: [], text: "older" } });
    assert.equal(await input.inputValue(), "typed");
    await page.evaluate(() => sessionStorage.clear());
    await page.reload();
    await view.theme("dark");
    assert.equal(await input.inputValue(), "");
    assert.deepEqual(await view.sent("keep"), [], "nothing is kept before it is known what was");
    // Made anew before the extension is there, by another place in the window, say.
    await page.reload();
    await view.theme("dark");
    await view.post({ type: "kept", kept: { ...kept, pictures: [] } }, ...ready);
    assert.equal(await input.inputValue(), "typed");
    await input.fill("");
    await press("ArrowUp", "ArrowUp");
    assert.equal(await input.inputValue(), "third");
    await input.fill("older");
    // The editor keeps a page's state once a minute: after a reload that is an old one.
    view.window = "second";
    await page.reload();
    await view.theme("dark");
    await view.post({ type: "kept", kept: { ...kept, pictures: [] } }, ...ready);
    assert.equal(await input.inputValue(), "typed");
    await input.fill("");
    await view.sent();
  },

  async "a slash lists the commands, and completes them"() {
    await input.press("/");
    assert.ok((await options.count()) > 8);
    await view.pictures("commands");
    await page.keyboard.type("co");
    assert.deepEqual(await options.locator(".what").allTextContents(), ["/compact", "/context"]);
    await press("ArrowDown");
    assert.equal(await page.getByRole("option", { selected: true }).locator(".what").innerText(), "/context");
    await press("Escape");
    assert.equal(await options.count(), 0);
    await page.keyboard.press("m");
    await press("Tab");
    assert.equal(await input.inputValue(), "/compact ");
    assert.deepEqual(await view.sent("run"), []);
    await page.keyboard.type("keep the parser");
    await press("Enter");
    assert.deepEqual(await view.sent("run"), [{ type: "run", command: "compact", argument: "keep the parser" }]);
    assert.equal(await input.inputValue(), "");
    await page.keyboard.type("/red");
    await press("Enter");
    assert.deepEqual(await view.sent("run"), [{ type: "run", command: "redo" }]);
    await page.keyboard.type("/compact");
    await press("Enter");
    assert.deepEqual(await view.sent("run"), [{ type: "run", command: "compact" }]);
  },

  async "no command goes to the model by accident, and what was meant is said"() {
    for (const [text, meant] of [["/compcat keep it", "/compact keep it"], ["/contxt", "/context"], ["/Hanodff docs", "/handoff docs"], ["/new words", "/new"]]) {
      await say(text);
      await told.getByRole("button", { name: `Use ${meant}`, exact: true }).waitFor();
      assert.equal(await input.inputValue(), text);
    }
    await say("/contxt");
    await view.pictures("misspelt");
    await told.getByRole("button", { name: "Use /context" }).click();
    await press("Enter");
    assert.deepEqual(await page.evaluate(() => window.sent.filter(({ type }) => type !== "keep").map(({ type, command }) => command ?? type)), ["showContext"]);
    await say("/wholly-unknown");
    assert.match(await told.innerText(), /There is no command \/wholly-unknown\. There are \/compact, /);
    await input.press("!");
    assert.ok(await told.isHidden());
    await view.sent();
    await say("/tmp is full");
    assert.deepEqual(await view.sent("send"), []);
    await told.getByRole("button", { name: "Send as Text" }).click();
    await say("/etc/hosts is wrong");
    assert.deepEqual((await view.sent("send")).map(({ text }) => text), ["/tmp is full", "/etc/hosts is wrong"]);
  },

  async "a mention is completed with the files that the daemon finds"() {
    await input.fill("");
    await page.keyboard.type("look at (@gre");
    await page.waitForFunction(() => window.sent.some(({ type }) => type === "find"));
    assert.deepEqual((await view.sent("find")).at(-1), { type: "find", query: "gre" });
    await view.post({ type: "found", query: "gr", files: ["late.py"] });
    assert.equal(await options.count(), 0, "an answer to what is not asked any more");
    const files = ["src/greeter.py", "greetings.md", "docs/a very long name of a folder that has no room/how to greet people.md"];
    await view.post({ type: "found", query: "gre", files });
    assert.equal(await options.nth(0).innerText(), "greeter.py\nsrc");
    await view.pictures("mention");
    await press("Tab");
    assert.equal(await input.inputValue(), "look at (@src/greeter.py ");
    await page.keyboard.type("and @");
    await page.waitForFunction(() => window.sent.some(({ type, query }) => type === "find" && query === ""));
    await view.post({ type: "found", query: "", files });
    await options.nth(2).click();
    assert.equal(await input.inputValue(), `look at (@src/greeter.py and @"${files[2]}" `);
    await input.fill("");
    await page.keyboard.type("@gre");
    await page.waitForFunction(() => window.sent.filter(({ query }) => query === "gre").length > 0);
    await view.post({ type: "found", query: "gre", files });
    await press("ArrowDown");
    const symbols = [{ name: "greet", path: "src/greeter.py", lines: [4, 9] }];
    await view.post({ type: "found", query: "gre", files, symbols });
    assert.equal(await page.locator("[aria-selected=true]").innerText(), "greetings.md", "what comes late moves nothing");
    await view.pictures("symbols");
    await press("ArrowDown");
    await press("ArrowDown");
    await press("Enter");
    assert.equal(await input.inputValue(), "@src/greeter.py#L4-L9 ");
    await page.keyboard.type("mail me@example");
    await view.sent();
    await page.waitForTimeout(120);
    assert.deepEqual(await view.sent("find"), []);
    await input.fill("");
  },

  async "what of the editor goes along stands as chips, and can be taken out"() {
    await view.post({ type: "editor", shown });
    await view.pictures("chips");
    await chip("lines 3–5").getByRole("button", { name: "Do not send the selection, lines 3–5 of src/greeter.py" }).click();
    await chip("2 more open").getByRole("button").click();
    assert.equal(await page.locator(".attached").count(), 1);
    await say("what is this?");
    assert.deepEqual((await view.sent("send"))[0].without, ["others", "selection"]);
    const other = { label: "line 9", said: "the selection, line 9 of src/greeter.py" };
    await view.post({ type: "editor", shown: { ...shown, selection: other } });
    await chip("line 9").waitFor();
    assert.equal(await chip("2 more open").count(), 0, "what was taken out stays out");
    await view.post({ type: "editor", shown: {} });
    assert.equal(await page.locator(".chips").isVisible(), false);
  },

  async "pictures come by paste and drop, are made small enough, and go along"() {
    await bring("paste", 60, 40);
    await page.locator(".attached").first().waitFor();
    await bring("drop", 4000, 2000);
    await page.locator(".attached").nth(1).waitFor();
    await input.fill("what is on these?");
    await page.waitForFunction(() => [...document.querySelectorAll(".attached canvas")].every(({ width }) => width < 100));
    await view.pictures("pictures");
    await page.reload();
    await view.theme("dark");
    await view.post(...ready);
    assert.equal(await input.inputValue(), "what is on these?");
    assert.equal(await page.locator(".attached canvas").count(), 2, "they survive a reload");
    await input.press("Enter");
    const [{ text, pictures }] = await view.sent("send");
    assert.equal(text, "what is on these?");
    assert.deepEqual(await Promise.all(pictures.map(size)), [[60, 40], [1568, 784]]);
    assert.equal(await page.locator(".attached").count(), 0);
    const origin = { sidecar: { turnId: "t9", partId: "p9", messageId: "m", seq: 3 } };
    await view.post({ type: "updates", updates: [{ sessionUpdate: "user_message_chunk", content: { type: "image", ...pictures[0] }, _meta: origin }] });
    await page.locator(".user canvas").waitFor();
    await view.post({ type: "refused", text, pictures, message: "Too many prompts wait." });
    assert.equal(await page.locator(".attached canvas").count(), 2);
    for (let left = 2; left; left -= 1) await page.locator(".attached button").first().click();
  },

  async "a session that is named goes along as a chip, into another session too"() {
    await input.fill("as in @pars");
    await view.post({ type: "found", query: "pars", files: [], sessions: [{ sessionId: "s7", title: "The parser", about: "session of yesterday" }] });
    await page.getByRole("option", { name: "The parser" }).click();
    assert.equal(await input.inputValue(), "as in ");
    await chip("The parser").locator(".icon-session").waitFor();
    await view.post({ type: "session", sessionId: "s8" }, ready[1]);
    await view.sent();
    await input.press("Enter");
    const [{ recalled }] = await view.sent("send");
    assert.deepEqual(recalled, [{ sessionId: "s7", label: "The parser" }]);
    assert.equal(await chip("The parser").count(), 0);
  },

  async "in the narrowest bar nothing is wider than the bar"() {
    await page.setViewportSize({ width: 170, height: 500 });
    const short = await page.locator(".meter").evaluate((button) => button.scrollWidth > button.clientWidth);
    assert.equal(short, false, "the meter's figure is whole");
    await view.post({ type: "editor", shown: { ...shown, file: { label: "a_very_long_name_of_a_module.py", said: "the open file" } } });
    await input.fill("");
    await input.press("/");
    await page.getByRole("option").first().waitFor();
    const cut = await page.locator(".suggestions .about").evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent));
    assert.deepEqual(cut, [], "what a command does is read whole");
    await view.pictures("narrow-commands", "dark", "light");
    await say("/hanodff");
    await view.pictures("narrow", "dark", "light");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 170);
    const outside = await page.evaluate(() => [...document.querySelectorAll(".composer *")].filter((each) => each.getBoundingClientRect().right > 170).map((each) => each.outerHTML.slice(0, 80)));
    assert.deepEqual(outside.filter((each) => !each.includes("spoken")), []);
    await page.setViewportSize({ width: 400, height: 760 });
    await view.post({ type: "editor", shown: {} });
    await input.fill("");
  },

  async "what is no picture is said, and a dropped file becomes a mention"() {
    await bring("paste", 1, 1, "broken");
    await told.getByText("broken.png cannot be read as a picture.").waitFor();
    await input.fill("see");
    await input.evaluate((element) => {
      const data = new DataTransfer();
      data.setData("text/uri-list", "file:///w/a.py\r\nfile:///w/b.py");
      element.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    });
    assert.deepEqual(await view.sent("mention"), [{ type: "mention", uris: ["file:///w/a.py", "file:///w/b.py"] }]);
    await view.post({ type: "mentions", text: "@a.py @b.py " });
    assert.equal(await input.inputValue(), "see @a.py @b.py ");
  },
};

await play(view, steps);
