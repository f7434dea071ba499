// The picture of the README: a turn in the chat, its diff in the editor, and what fills the window.

import { openDesk } from "./desk.mjs";
import { play } from "./play.mjs";

const given = JSON.parse(process.argv[2]);
const desk = await openDesk(given);
const { page } = desk;

/** Press the mouse at a place and release it at another. */
async function drag(x, y, toX, toY) {
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(toX, toY, { steps: 5 });
  await page.mouse.up();
}

await play(desk, {
  async "the chat, a diff and the context stand beside each other"() {
    await page.setViewportSize({ width: 960, height: 830 });
    await desk.figures();
    const chat = await desk.openChat();
    const done = async (turns) => {
      await chat.locator(".turn .cost:not(:empty)").nth(turns - 1).waitFor();
      await chat.locator(".working").waitFor({ state: "hidden" });
    };
    const before = [1, 2, 3, 4].map((part) => `read phrases/${part}.md`);
    for (const [index, text] of before.entries()) {
      await desk.say(chat, text);
      await done(index + 1);
    }
    await desk.meter.click();
    const context = await desk.view("context");
    await context.getByRole("button", { name: "Compact…" }).waitFor();
    const bar = await page.locator(".part.sidebar").boundingBox();
    await drag(bar.x + bar.width, bar.y + 200, bar.x + 470, bar.y + 200);
    const { x, y } = await page.locator(".pane-header", { hasText: "Context" }).boundingBox();
    await drag(x + 100, y, x + 100, y - 115);
    await desk.say(chat, "replace `Hello` with `Good day` in greeter.py");
    await done(before.length + 1);
    await chat.getByRole("button", { name: "Open diff of greeter.py" }).click();
    await desk.tab("greeter.py (Sidecar's change)").waitFor();
    await desk.until("the diff", async () => (await desk.text()).includes("Good day"));
    await page.locator(".view-lines").last().click();
    await desk.idle();
    await desk.picture("all");
  },
});
