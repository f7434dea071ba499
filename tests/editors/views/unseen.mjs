// What the model no longer sees whole, in the chat's page: marked, with the reason and the way back.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { openPage, play } from "./page.mjs";

const given = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { said } = given;
const view = await openPage(given, "chat");
const { page } = view;
const input = page.getByRole("textbox", { name: "Message to Sidecar" });
const [whole] = said.turns;
const part = (kind, test = () => true) => whole.find((update) => update.sessionUpdate === kind && test(update))._meta.sidecar.partId;
const read = part("tool_call", ({ toolCallId }) => toolCallId === "c1");
const reason = "84012 to 31000 tokens: asked for";
const parts = [
  { partId: part("user_message_chunk"), presentation: "dropped", reason },
  { partId: part("agent_thought_chunk"), presentation: "dropped", reason },
  { partId: part("agent_message_chunk", ({ content }) => content.text.startsWith("I look")), presentation: "dropped", reason },
  { partId: read, presentation: "placeholder", reason },
  { partId: part("tool_call", ({ toolCallId }) => toolCallId === "c3"), presentation: "truncated" },
  { partId: "of no message here", presentation: "dropped" },
];
const updates = (all) => ({ type: "updates", updates: all });
const history = [{ type: "session", sessionId: "s" }, updates(said.replay), { type: "ready", readOnly: false, model: "offline" }];
const chip = page.locator(".attached", { hasText: "Read greeting.py" });
const recall = (name) => page.getByRole("button", { name: `Recall ${name}` });

const steps = {
  async "what is not whole is marked, and says why"() {
    await view.post({ type: "kept", kept: { text: "", pictures: [], sent: [] } }, ...history);
    assert.equal(await page.locator(".unseen, .mark").count(), 0);
    await view.post({ type: "unseen", parts });
    assert.equal(await page.locator(".unseen").count(), 5);
    const mark = page.locator(".fold.unseen", { has: page.getByRole("button", { name: "Read greeting.py, done" }) }).locator(".mark");
    assert.equal(await mark.locator(".spoken").textContent(), `Not seen by the model any more, but for a line in its place: ${reason}`);
    assert.equal(await mark.getAttribute("title"), await mark.locator(".spoken").textContent());
    assert.equal(await page.locator(".fold.unseen .mark .spoken").last().textContent(), "The model sees only a part of this");
    assert.equal(await page.locator(".thought.unseen").getByRole("button", { name: /^Recall/ }).count(), 0, "thinking is bound to its place");
  },

  async "it is fainter, and can be read all the same"() {
    for (const theme of ["dark", "light"]) {
      await view.theme(theme);
      for (const text of [".answered.unseen .markdown p", ".unseen .user", ".fold.unseen .target", ".mark .words"]) assert.ok((await view.contrast(text)) >= 4.5, `${text}, ${theme}`);
    }
    await page.locator(".transcript").hover();
    await page.mouse.wheel(0, -9000);
    await view.pictures("unseen");
    await page.setViewportSize({ width: 220, height: 760 });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than the page");
    await view.pictures("unseen-narrow", "dark", "light");
    await page.setViewportSize({ width: 400, height: 760 });
  },

  async "what is recalled goes along with the next message, once, and can be left out of it"() {
    for (const name of ["Read greeting.py", "Read greeting.py", "what you said: greet(None) fails."]) await recall(name).click();
    assert.match(await view.said(), /^Goes along with your next message: what you said/);
    assert.equal(await chip.count(), 1);
    await view.pictures("recalled", "dark", "light");
    await page.getByRole("button", { name: "Do not send what you said" }).click();
    await page.reload();
    await view.post(...history, { type: "unseen", parts });
    assert.equal(await chip.count(), 1, "a hidden view keeps it");
    await input.fill("look again");
    await view.sent();
    await page.keyboard.press("Enter");
    const recalled = [{ sessionId: "s", partId: read, label: "Read greeting.py" }];
    assert.deepEqual(await view.sent("send"), [{ type: "send", text: "look again", pictures: [], recalled, without: [], steer: false }]);
    assert.equal(await chip.count(), 0);
    await view.post({ type: "refused", text: "look again", pictures: [], recalled, message: "Too many prompts wait." });
    assert.equal(await chip.count(), 1, "what was refused is not lost");
  },

  async "what went along is named where it was sent"() {
    const origin = { sidecar: { turnId: "t9", partId: "file", messageId: "m9", seq: 9999 } };
    const resource = { uri: `sidecar:part/${read}#Read%20greeting.py`, text: "def greet" };
    await view.post(updates([{ sessionUpdate: "user_message_chunk", content: { type: "resource", resource }, _meta: origin }]));
    await page.locator(".along", { hasText: "Read greeting.py" }).waitFor();
  },

  async "an address that cannot be decoded is shown as it is, and hides nothing behind it"() {
    const chunk = (partId, content) => ({ sessionUpdate: "user_message_chunk", content, _meta: { sidecar: { turnId: "t10", partId, messageId: "m10", seq: 10000 } } });
    const file = (partId, uri) => chunk(partId, { type: "resource", resource: { uri, text: "x" } });
    const odd = { sessionUpdate: "tool_call", toolCallId: "odd", title: 7, kind: "read", _meta: { sidecar: { turnId: "t10", partId: "odd" } } };
    await view.post(updates([file("f1", "sidecar:part/x#50%"), file("f2", "sidecar:session/x#%ZZ"), odd, chunk("f3", { type: "text", text: "behind them" })]));
    for (const shown of ["50%", "%ZZ"]) await page.locator(".along", { hasText: shown }).waitFor();
    await page.locator(".user", { hasText: "behind them" }).waitFor();
    await page.locator(".notice", { hasText: "A part of the conversation cannot be shown" }).waitFor();
  },

  async "another session has nothing of it, and marks go when all is whole again"() {
    await view.post({ type: "session", sessionId: "other" });
    assert.equal(await chip.count(), 0);
    await view.post(...history, { type: "unseen", parts });
    assert.equal(await page.locator(".unseen").count(), 5);
    await view.post({ type: "unseen", parts: parts.slice(0, 1) });
    assert.equal(await page.locator(".unseen").count(), 1);
    await view.post({ type: "unseen", parts: [] });
    assert.equal(await page.locator(".unseen, .mark").count(), 0);
  },
};

await play(view, steps);
