// The context's page: the window, its turns, and what was left out and is read again.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { openPage, play } from "./page.mjs";

const given = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { before, after, checkpoints, recalled, plan, ticked, read } = given.said;
const view = await openPage(given, "context");
const { page } = view;
const [part, piece] = Object.entries(recalled).find(([, { nextOffset }]) => nextOffset !== undefined);
const left = after.segments.filter(({ presentation }) => !["verbatim", "note"].includes(presentation));

const steps = {
  async "without a session it says so"() {
    assert.deepEqual(await view.sent("shown"), [{ type: "shown" }]);
    await view.post({ type: "none", message: "The daemon is stopped." });
    await page.getByText("The daemon is stopped.").waitFor();
  },

  async "a bar shows what fills the window, and where it is rewritten"() {
    await view.post({ type: "context", breakdown: before, checkpoints });
    const { meter } = before;
    const room = meter.window - meter.reservedOutput;
    const said = await page.locator(".window").getAttribute("aria-label");
    assert.ok(said.includes(`zone ${meter.zone}`) && said.includes("tool results"), said);
    const bar = await page.locator(".window").boundingBox();
    const pieces = await page.locator(".window .stack > span").evaluateAll((all) => all.map((each) => each.getBoundingClientRect().width));
    const drawn = pieces.reduce((sum, width) => sum + width, 0) / bar.width;
    assert.ok(Math.abs(drawn - meter.used / room) < 0.02, `${drawn} of the bar is drawn`);
    const mark = await page.locator(".mark").boundingBox();
    assert.ok(Math.abs((mark.x - bar.x) / bar.width - meter.compactAt / room) < 0.02);
    await page.setViewportSize({ width: 170, height: 760 });
    const [sizes, compact] = await Promise.all([page.locator(".sizes"), page.getByRole("button", { name: "Compact" })].map((each) => each.boundingBox()));
    assert.ok(sizes.y + sizes.height <= compact.y + 1 || sizes.x + sizes.width <= compact.x + 1, "nothing covers the figures in the narrowest bar");
    assert.ok(await page.locator(".sizes").evaluate((element) => element.scrollWidth <= element.clientWidth));
    assert.deepEqual(await page.locator(".legend li, .facts > div").evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent)), [], "nothing stands beyond the edge");
    await view.pictures("narrow", "dark");
    await page.setViewportSize({ width: 400, height: 760 });
    const colours = new Set();
    for (const zone of ["green", "yellow", "orange", "red"]) {
      await view.post({ type: "context", breakdown: { ...before, meter: { ...meter, zone } }, checkpoints });
      colours.add(await page.locator(".zone").evaluate((each) => `${getComputedStyle(each).backgroundColor} ${getComputedStyle(each).backgroundImage}`));
    }
    assert.equal(colours.size, 4, "the zone is the daemon's, whatever the size");
    assert.ok([...colours].every((colour) => colour.endsWith(" none")), "one zone at a time");
    await view.post({ type: "context", breakdown: before, checkpoints });
    assert.equal(await page.locator(".legend .within").count(), 0);
    await view.post({ type: "context", breakdown: { ...before, meter: { ...meter, toolsByServer: { notes: 120, web: 1_300 } } }, checkpoints });
    assert.deepEqual(await page.locator(".legend li:has(.region-tools) ~ .within").allInnerTexts(), ["of web\n1,300", "of notes\n120"]);
    await view.post({ type: "context", breakdown: before, checkpoints });
    await page.locator(".legend li", { hasText: "tool results" }).getByText(meter.regions.toolResults.toLocaleString("en-US")).waitFor();
    await view.pictures("full");
  },

  async "turn by turn it says what is there and what is cached"() {
    const heads = await page.locator("summary").evaluateAll((all) => all.map((each) => each.querySelector(".spoken").textContent));
    assert.match(heads[0], /^Sent with every request: [\d,]+ tokens, cached$/);
    assert.match(heads[1], /^read story.md: [\d,]+ tokens, (partly )?cached$/);
    assert.equal(heads.length, 5);
    assert.ok(await page.getByRole("button", { name: "left out or cut" }).isHidden());
  },

  async "a compaction is looked at before it is made"() {
    await page.getByRole("button", { name: "Compact…" }).click();
    assert.deepEqual(await view.sent("plan"), [{ type: "plan", number: 1, instructions: "", keep: [] }]);
    assert.ok(await page.getByRole("button", { name: "Compact", exact: true }).isDisabled());
    await view.post({ type: "planned", number: 1, plan });
    const tokens = (number) => number.toLocaleString("en-US");
    await page.locator(".told dd", { hasText: `${tokens(plan.tokensBefore)} → ${tokens(plan.tokensAfter)}` }).waitFor();
    await page.locator(".told div", { hasText: "Price" }).getByText("$0.00").waitFor();
    assert.match(await view.said(), /\d+ parts? goe?s?/);
    assert.equal(await page.locator(".plan .group.gone input").count(), plan.plan.length);
    const reasons = [...new Set(plan.plan.map(({ reason }) => reason))];
    const titles = await page.locator(".plan .group.gone summary .title").allInnerTexts();
    assert.deepEqual(titles.sort(), reasons.map((reason) => `Would go: ${reason}`).sort(), "by reason");
    assert.ok(await page.getByRole("heading", { name: "Turn by turn" }).isHidden());
    const all = new Set(before.segments.map(({ partId }) => partId).filter(Boolean));
    assert.equal(await page.locator(".plan li input").count(), all.size, "every part is there");
    await view.pictures("plan");
  },

  async "each part is read whole, and ticked to stay"() {
    const [[part, text]] = Object.entries(read);
    const [kept, thought] = Object.entries(ticked);
    const tick = page.locator(`#keep-${part}`);
    await page.locator(`#read-${part}`).click();
    assert.deepEqual(await view.sent("recall"), [{ type: "recall", partId: part, offset: 0 }]);
    await view.post({ type: "recalled", partId: part, piece: text });
    assert.equal(await page.getByLabel("Whole text").textContent(), text.content);
    await page.locator(".plan .why", { hasText: "not worth its tokens" }).waitFor();
    await page.getByRole("button", { name: "Pin", exact: true }).click();
    assert.deepEqual(await view.sent("run"), [{ type: "run", command: "pin", argument: part }]);
    await tick.focus();
    await page.keyboard.press("Space");
    assert.deepEqual(await view.sent("plan"), [{ type: "plan", number: 2, instructions: "", keep: [part] }]);
    await view.post({ type: "planned", number: 1, plan: { ...plan, plan: [] } }, { type: "planned", number: 2, plan: kept[1] });
    assert.ok(await page.locator(`.kept #keep-${part}`).isChecked());
    assert.ok(await page.locator(".plan .group").count() > 1, "a plan of before is not shown");
    await page.locator(`#keep-${thought[0]}`).check();
    await view.sent("plan");
    await view.post({ type: "planned", number: 3, plan: thought[1] });
    await page.getByText("The policy cannot keep it: thinking after an edited part cannot be sent").waitFor();
    const [mark, ground] = await tick.evaluate((each) => [getComputedStyle(each, "::after").borderRightColor, getComputedStyle(each).backgroundColor]);
    assert.equal(mark, await page.evaluate(() => getComputedStyle(document.body).color), "ticks are seen");
    assert.notEqual(mark, ground);
    await page.setViewportSize({ width: 1200, height: 760 });
    await view.pictures("plan-wide");
    await page.setViewportSize({ width: 260, height: 760 });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is beyond the edge");
    await view.pictures("plan-narrow", "dark");
    await page.setViewportSize({ width: 400, height: 760 });
  },

  async "what is pinned meanwhile is planned anew, and the plan survives hiding"() {
    const keep = Object.keys(ticked);
    const pinned = { ...before, meter: { ...before.meter, revision: before.meter.revision + 1 } };
    await view.post({ type: "context", breakdown: pinned, checkpoints });
    assert.deepEqual(await view.sent("plan"), [{ type: "plan", number: 4, instructions: "", keep }]);
    await page.reload();
    await view.theme("dark");
    assert.deepEqual(await view.sent("plan"), [], "there may be no session yet");
    await view.post({ type: "context", breakdown: before, checkpoints });
    assert.deepEqual(await view.sent("plan"), [{ type: "plan", number: 1, instructions: "", keep }]);
    await view.post({ type: "planned", number: 1, plan: ticked[keep[1]] });
    await page.getByLabel("What to keep, in words").fill("what Anna said");
    await page.keyboard.press("Enter");
    assert.deepEqual(await view.sent("plan"), [{ type: "plan", number: 2, instructions: "what Anna said", keep }]);
    await view.post({ type: "planned", number: 2, plan: ticked[keep[1]] });
    await page.getByRole("button", { name: /^Compact to/ }).click();
    const { revision } = before.meter;
    assert.deepEqual(await view.sent("compact"), [{ type: "compact", number: 3, instructions: "what Anna said", keep, revision }]);
    await view.post({ type: "unplanned", number: 3, message: "The session is another window's." });
    await page.getByRole("alert").getByText("another window's").waitFor();
    await view.post({ type: "compacted" });
    await page.getByRole("heading", { name: "Turn by turn" }).waitFor();
    assert.ok(await page.getByRole("heading", { name: "Before you compact" }).isHidden());
  },

  async "where nothing can go, it says why, and leaving changes nothing"() {
    await view.post({ type: "preview", instructions: "all" });
    const [{ number }] = await view.sent("plan");
    await view.post({ type: "planned", number, plan: { ...plan, plan: [], reason: "there is nothing worth leaving out yet" } });
    await page.locator(".told", { hasText: /^There is nothing worth leaving out yet$/ }).waitFor();
    assert.ok(await page.getByRole("button", { name: "Compact", exact: true }).isDisabled());
    await page.getByRole("button", { name: "Leave as It Is" }).click();
    await page.getByRole("heading", { name: "Turn by turn" }).waitFor();
    assert.deepEqual(await view.sent("compact"), []);
  },

  async "a plan that was carried out elsewhere gives way to what fills the context"() {
    await page.getByRole("button", { name: "Compact…" }).click();
    const [{ number }] = await view.sent("plan");
    await view.post({ type: "planned", number, plan });
    await page.getByText("A tick lets a part stay").waitFor();
    await view.post({ type: "context", breakdown: { ...before, meter: { ...before.meter, revision: before.meter.revision + 2 } }, checkpoints });
    const [anew] = await view.sent("plan");
    await view.post({ type: "planned", number: anew.number, plan: { ...plan, plan: [], reason: "there is nothing worth leaving out yet" } });
    await page.getByRole("heading", { name: "Turn by turn" }).waitFor();
  },

  async "after a compaction the fall is said, and what was left out is counted"() {
    await view.post({ type: "context", breakdown: after, checkpoints });
    assert.match(await view.said(), /The context fell from [\d,]+ to [\d,]+ tokens/);
    await page.getByRole("button", { name: `${left.length} left out or cut` }).waitFor();
    await page.locator("button, summary").filter({ hasText: /^Notes of compactions: / }).first().waitFor();
  },

  async "what was left out is listed by a key, and read again by another"() {
    await view.tabTo("left out or cut");
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("li .piece").count(), left.length);
    const index = left.findIndex(({ partId }) => partId === part);
    const line = page.locator("li .piece").nth(index);
    await line.focus();
    await page.keyboard.press("Enter");
    assert.deepEqual(await view.sent("recall"), [{ type: "recall", partId: part, offset: 0 }]);
    await view.post({ type: "recalled", partId: part, piece });
    const text = page.getByLabel("Whole text");
    assert.equal(await text.textContent(), piece.content);
    assert.equal(await line.getAttribute("aria-expanded"), "true");
    assert.ok(await line.evaluate((each) => each === document.activeElement));
    await view.pictures("recalled");
  },

  async "long texts come by pieces, and stay when the context is drawn again"() {
    await page.getByRole("button", { name: /^Show more of/ }).click();
    assert.deepEqual(await view.sent("recall"), [{ type: "recall", partId: part, offset: piece.nextOffset }]);
    await view.post({ type: "recalled", partId: part, piece: { content: "the end", totalBytes: piece.totalBytes } });
    await view.post({ type: "context", breakdown: after, checkpoints });
    assert.equal(await page.getByLabel("Whole text").textContent(), `${piece.content}the end`);
    assert.equal(await page.getByRole("button", { name: /^Show more of/ }).count(), 0);
    await page.getByRole("button", { name: "Pin", exact: true }).click();
    assert.deepEqual(await view.sent("run"), [{ type: "run", command: "pin", argument: part }]);
    const segments = after.segments.map((one) => ({ ...one, pinned: one.partId === part }));
    await view.post({ type: "context", breakdown: { ...after, segments }, checkpoints });
    await page.getByRole("button", { name: /, pinned, / }).locator(".icon-pin").waitFor();
    assert.equal(await page.getByRole("button", { name: "Pin", exact: true }).count(), 0);
    await page.getByRole("button", { name: "Unpin", exact: true }).click();
    assert.deepEqual(await view.sent("run"), [{ type: "run", command: "unpin", argument: part }]);
  },

  async "what was asked for and cannot be read is said"() {
    const other = left.find(({ partId }) => partId !== part);
    await page.locator("li .piece").nth(left.indexOf(other)).click();
    await view.post({ type: "lost", partId: other.partId, message: "The daemon is not running." });
    await page.getByRole("alert").getByText("The daemon is not running.").waitFor();
    for (const theme of ["dark", "light", "contrast"]) {
      await view.theme(theme);
      assert.ok((await view.contrast(".lost")) >= 4.5, theme);
    }
    await view.theme("dark");
  },

  async "a view that is opened again is as it was left"() {
    await page.reload();
    await view.theme("dark");
    await view.post({ type: "context", breakdown: after, checkpoints });
    assert.equal(await page.locator("li .piece").count(), left.length);
    await page.getByRole("button", { name: "left out or cut" }).click();
    assert.ok((await page.locator("li .piece").count()) > left.length);
  },
};

await play(view, steps);
