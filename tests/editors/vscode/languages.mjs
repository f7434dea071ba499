// The extension in another language than English: chat, question, context, the preview of a compaction, sessions; wide and narrow.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openDesk } from "./desk.mjs";
import { play } from "./play.mjs";

const given = JSON.parse(process.argv[2]);
const { language } = given;
const desk = await openDesk(given);
const { page } = desk;
desk.scenario += `-${language}`;

const read = (name) => JSON.parse(readFileSync(join(given.extensions, "sidecar.sidecar-0.1.0", name), "utf8"));
const [bundle, manifest] = [read(`l10n/bundle.l10n.${language}.json`), read(`package.nls.${language}.json`)];
/** The extension's text in the language: the scenario names it in English. */
const t = (text, ...places) => bundle[text].replace(/\{(\d)\}/g, (place, index) => places[index] ?? place);

/** Make the side bar this wide. */
async function widen(width) {
  const bar = await page.locator(".part.sidebar").boundingBox();
  await page.mouse.move(bar.x + bar.width, bar.y + 300);
  await page.mouse.down();
  await page.mouse.move(bar.x + width, bar.y + 300, { steps: 5 });
  await page.mouse.up();
  await page.mouse.move(bar.x + width + 200, bar.y + 300);
}

/** What of a page's words is cut without a sign, or stands on others. */
const faults = (view) =>
  view.evaluate(() => {
    const found = [];
    const words = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      if (!node.data.trim() || element.closest(".spoken, pre, .suggestions")) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (let { left, right, top, bottom } of range.getClientRects()) {
        for (let each = element; each; each = each.parentElement) {
          const { overflowX, overflowY, textOverflow } = getComputedStyle(each);
          const edge = each.getBoundingClientRect();
          if (overflowX !== "visible" && right > edge.right + 1 && textOverflow !== "ellipsis") found.push(`cut: ${node.data}`);
          if (overflowX !== "visible") right = Math.min(right, edge.right);
          if (overflowY !== "visible") [top, bottom] = [Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
        }
        if (right > innerWidth + 1) found.push(`beyond the edge: ${node.data}`);
        const seen = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
        if (bottom - top > 4 && seen && (seen.contains(element) || element.contains(seen))) words.push({ node, left, right, top, bottom });
      }
    }
    for (const [index, one] of words.entries()) {
      for (const other of words.slice(index + 1)) {
        const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
        const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
        if (one.node !== other.node && wide > 2 && high > 4) found.push(`on each other: ${one.node.data} | ${other.node.data}`);
      }
    }
    return found;
  });

/** Pictures of a view in a wide and in a narrow side bar, without faults. */
async function pictures(view, name) {
  for (const [size, width] of [["wide", 560], ["narrow", 240]]) {
    await widen(width);
    await page.waitForTimeout(300);
    await desk.picture(`${name}-${size}`);
    assert.deepEqual(await faults(view), [], `${name}, ${size}`);
  }
}

async function openChat() {
  await desk.run(`Focus on ${manifest["view.chat"]} View`);
  return desk.view("chat");
}

async function say(chat, text) {
  await chat.getByRole("textbox", { name: t("Message to Sidecar") }).fill(text);
  await page.keyboard.press("Enter");
}

async function ended(chat, turns) {
  await chat.locator(".turn .cost:not(:empty)").nth(turns - 1).waitFor();
  await chat.locator(".working").waitFor({ state: "hidden" });
}

await play(desk, {
  async "the chat says what it is for"() {
    await desk.until("a meter with figures", async () => /%/.test(await desk.meter.innerText()));
    await desk.meter.hover();
    await page.locator(".monaco-hover", { hasText: t("system prompt") }).first().waitFor();
    await desk.picture("meter");
    const chat = await openChat();
    assert.equal(await chat.evaluate(() => document.documentElement.lang), language);
    await chat.getByText(t("go between turns")).waitFor();
    await pictures(chat, "empty");
    await chat.getByRole("textbox", { name: t("Message to Sidecar") }).fill("/");
    await chat.getByText(t("Make room in the context")).waitFor();
    await pictures(chat, "commands");
    await chat.getByRole("textbox", { name: t("Message to Sidecar") }).fill("");
  },

  async "a question is asked, in the chat and in the diff"() {
    const chat = await openChat();
    await say(chat, "replace `two` with `zwei` in a.txt then read story.md");
    const question = chat.getByRole("group", { name: t("May this be changed?") });
    await question.waitFor();
    await desk.tab(t("{0}: may this be changed?", "a.txt")).waitFor();
    await pictures(chat, "question");
    await question.getByRole("button", { name: t("Allow once") }).click();
    await ended(chat, 1);
    await chat.getByText(t("{0} file changed", "1")).waitFor();
    await say(chat, "run `ls; exit 3`");
    await chat.getByText(t("May this run?")).waitFor();
    await pictures(chat, "run");
    await desk.run("Show Explorer", "View");
    await page.locator(".notification-list-item", { hasText: t("Show…") }).waitFor();
    await desk.picture("notification");
    await (await openChat()).getByRole("button", { name: t("Allow once") }).click();
  },

  async "what was answered"() {
    const chat = await desk.view("chat");
    await ended(chat, 2);
    for (const [index, text] of ["search for Anna in story.md", "read story.md and a.txt", "search for crowns in story.md"].entries()) {
      await say(chat, text);
      await ended(chat, index + 3);
    }
    await pictures(chat, "answered");
  },

  async "what fills the context, and what a compaction would do"() {
    await desk.run(manifest["command.showContext"]);
    const view = await desk.view("context");
    await view.getByRole("heading", { name: t("Turn by turn") }).waitFor();
    await pictures(view, "context");
    await view.getByRole("button", { name: t("Compact…") }).click();
    await view.locator(".plan summary").first().waitFor();
    await pictures(view, "plan");
    await desk.run(manifest["command.compact"]);
    await page.locator(".quick-input-titlebar", { hasText: t("Sidecar: Compact Now") }).waitFor();
    await desk.picture("instructions");
    await page.keyboard.press("Enter");
    await desk.row(t("Look at each part…")).waitFor();
    await desk.picture("ways");
    await desk.pick(t("Look at each part…"));
    await desk.tab(t("Sidecar Context")).waitFor();
    const tab = await desk.until("the tab's page", async () => {
      const wide = await Promise.all(page.frames().map((frame) => frame.evaluate(() => document.body.classList.contains("context") && innerWidth > 600).catch(() => false)));
      return page.frames()[wide.indexOf(true)];
    });
    await tab.locator(".plan summary").first().waitFor();
    await desk.picture("tab");
    assert.deepEqual(await faults(tab), [], "tab");
    await view.locator(".plan .primary").click();
    await page.locator(".notification-list-item", { hasText: t("Undo Compaction") }).waitFor();
    await view.locator("button.filter").waitFor();
    await pictures(view, "compacted");
    const chat = await openChat();
    await chat.locator(".compaction", { hasText: t("Compacted") }).waitFor();
    await pictures(chat, "left-out");
  },

  async "sessions and going back"() {
    await desk.run(`Focus on ${manifest["view.sessions"]} View`);
    await page.locator(".pane-body .monaco-list-row", { hasText: t("Other folders") }).waitFor();
    await desk.picture("sessions");
    await desk.run(manifest["command.rollBack"]);
    await desk.row("replace two with zwei").waitFor();
    await desk.picture("turns");
    await desk.pick("replace two with zwei");
    await desk.row(t("Files and conversation")).waitFor();
    await desk.picture("scope");
    await desk.pick(t("Files and conversation"));
    await desk.choose(t("Go back?"), t("Go Back"));
    await page.locator(".notification-list-item", { hasText: t("Redo") }).waitFor();
    await desk.picture("back");
  },

  async "settings and the tour"() {
    await desk.run("Open User Settings", "Preferences");
    await page.locator(".settings-editor").waitFor();
    // The settings are of the machine.
    await page.locator(".settings-editor").getByRole("tab", { name: /^Remote/ }).click();
    await page.locator(".settings-editor .search-container .view-lines").click();
    await page.keyboard.type("@ext:sidecar.sidecar");
    await page.getByText(manifest["setting.baseUrl"]).waitFor();
    await desk.picture("settings");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await desk.run("Open Walkthrough...", "Welcome");
    await desk.pick(manifest["tour.title"]);
    await page.getByText(manifest["tour.description"]).first().waitFor();
    const [heading] = readFileSync(join(given.extensions, `sidecar.sidecar-0.1.0/walkthrough/model.nls.${language}.md`), "utf8").replace("## ", "").split("\n");
    await desk.until("the tour's page", async () => {
      const shown = await Promise.all(page.frames().map((frame) => frame.getByRole("heading", { name: heading, exact: true }).count().catch(() => 0)));
      return shown.some((count) => count > 0);
    });
    await desk.picture("tour");
  },
});
