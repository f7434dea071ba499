// A compaction before it is made, in a tab of the editor and in the side bar: read, ticked to stay, pinned, made.

import assert from "node:assert/strict";
import { join } from "node:path";
import { openDesk } from "./desk.mjs";
import { play } from "./play.mjs";

const given = JSON.parse(process.argv[2]);
const desk = await openDesk(given);
const { page } = desk;
const settings = join(given.server, "data/Machine/settings.json");

const go = (view) => view.getByRole("button", { name: /^Compact to/ });
const planned = (view) => desk.until("a plan", async () => (await go(view).isEnabled().catch(() => false)) && go(view).innerText());
/** The line of a part by its words, which may stand there several times. */
const part = (view, fate, words) => view.locator(`.plan .${fate} li`, { hasText: words }).first();

/** The page in the tab is the wide one. */
const inTab = () =>
  desk.until("the tab's page", async () => {
    for (const frame of page.frames()) {
      const wide = await frame.evaluate(() => document.body.classList.contains("context") && innerWidth > 600).catch(() => false);
      if (wide) return frame;
    }
    return undefined;
  });

await play(desk, {
  async "the context opens in a tab"() {
    await desk.figures();
    for (const text of ["read story.md", "search for Anna in story.md", "read story.md and a.txt", "search for crowns in story.md"]) {
      await desk.turn(text);
    }
    await desk.run("Open Context in Editor");
    await desk.tab("Sidecar Context").waitFor();
    const tab = await inTab();
    await tab.locator("summary", { hasText: "search for crowns" }).waitFor();
    await desk.picture("tab");
    await desk.run("Open Context in Editor");
    await desk.until("one tab", async () => (await page.locator(".tabs-container .tab", { hasText: "Sidecar Context" }).count()) === 1);
  },

  async "the plan of the palette leads to every part, read and ticked to stay"() {
    await desk.run("Compact Now");
    await desk.fill("Compact Now", "");
    await desk.pick("Look at each part");
    const tab = await inTab();
    const before = await planned(tab);
    const line = part(tab, "gone", "search story.md");
    await line.locator(".piece").click();
    await tab.getByLabel("Whole text").getByText("On day 0 Anna said").waitFor();
    await desk.picture("read");
    await line.getByRole("checkbox").click();
    await part(tab, "kept", "search story.md").waitFor();
    await desk.until("a smaller plan", async () => (await planned(tab)) !== before);
    await part(tab, "gone", "thinking").getByRole("checkbox").click();
    await tab.getByText("The policy cannot keep it: thinking after").waitFor();
    await desk.picture("ticked");
    await desk.configure(settings, { "workbench.colorTheme": "Default Dark Modern" });
    await page.locator(".monaco-workbench.vs-dark").waitFor();
    await desk.picture("dark");
  },

  async "a reload finds tab and ticks again"() {
    // The editor writes what a tab keeps every few seconds.
    await page.waitForTimeout(7000);
    await page.reload();
    await desk.figures();
    const tab = await inTab();
    await planned(tab);
    assert.equal(await tab.locator(".plan input:checked").count(), 2);
  },

  async "what is pinned is no longer in the plan"() {
    const tab = await inTab();
    const line = part(tab, "gone", "read_file a.txt");
    await line.locator(".piece").click();
    await line.getByRole("button", { name: "Pin", exact: true }).click();
    await tab.locator(".plan .stays li", { hasText: "read_file a.txt" }).first().waitFor({ state: "attached" });
  },

  async "then it is made as it was shown, and what was ticked is there"() {
    const tab = await inTab();
    const said = await planned(tab);
    await go(tab).click();
    const tokens = said.replace("Compact to ", "");
    await desk.toast("Compacted from").getByText(`to ${tokens}`).waitFor();
    await tab.getByRole("button", { name: "left out or cut" }).waitFor();
    assert.equal((await desk.figures()).used, Number(tokens.replace(/\D/g, "")));
    await tab.locator("summary", { hasText: "search for Anna" }).click();
    await tab.locator("li:not(.out) .piece", { hasText: "search story.md" }).first().waitFor();
    await desk.picture("made");
    await desk.toast("Compacted from").locator(".monaco-button", { hasText: "Undo Compaction" }).click();
    await desk.toast("The compaction was taken back").waitFor();
    await desk.run("Close Editor", "View");
  },

  async "the small view has the same"() {
    await desk.run("Show Context");
    const view = await desk.view("context");
    await view.getByRole("button", { name: "Compact…" }).click();
    await planned(view);
    await desk.picture("small");
    await view.getByRole("button", { name: "Leave as It Is" }).click();
    await view.getByRole("heading", { name: "Turn by turn" }).waitFor();
  },
});
