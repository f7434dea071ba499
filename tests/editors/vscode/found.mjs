// Where the daemon is found when no setting names it: nowhere, then by uv, then on PATH.

import assert from "node:assert/strict";
import { existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { openDesk } from "./desk.mjs";
import { play } from "./play.mjs";

const given = JSON.parse(process.argv[2]);
const desk = await openDesk(given);
const started = () => (existsSync(given.pids) ? readFileSync(given.pids, "utf8").trim().split("\n") : []);

await play(desk, {
  async "a daemon that is nowhere is offered to be installed"() {
    await desk.until("a meter that says so", async () => (await desk.meter.innerText()).includes("Sidecar: failed"));
    // What was told at the start may have been cleared away with the notifications.
    await desk.meter.click();
    await desk.toast("Sidecar's daemon was not found on PATH").waitFor();
    await desk.picture("not-found");
    await desk.run("Focus on Welcome View");
    await desk.page.locator(".welcome-view-content", { hasText: "Sidecar's daemon is not running" }).waitFor();
    assert.equal(await desk.page.locator(".pane-header", { hasText: "Chat" }).count(), 0);
    await desk.picture("welcome");
    await desk.page.locator(".welcome-view-content").getByRole("button", { name: "Say Where It Is" }).click();
    await desk.page.locator(".settings-editor .setting-item-label", { hasText: "Path" }).waitFor();
    await desk.picture("where");
    await desk.page.keyboard.press("Escape");
    await desk.run("Show Log");
    await desk.page.locator(".output-view-container, .output-view").getByText("there is no sidecar on PATH").first().waitFor();
    assert.deepEqual(started(), []);
  },

  async "uv installs what came with the extension, and it starts"() {
    await desk.run("Restart Daemon");
    await desk.toast("It can be installed for you with uv").locator(".monaco-button", { hasText: "Install with uv" }).first().click();
    await desk.figures();
    const [asked] = readFileSync(join(given.tools, "asked"), "utf8").split("\n");
    const wheels = asked.split(" ").filter((word) => word.endsWith(".whl"));
    assert.match(asked, /^tool install --force --with \S+sidecard_client-\S+\.whl \S+sidecard-\S+\.whl$/);
    assert.ok(wheels.every((wheel) => existsSync(wheel)), asked);
    assert.equal(started().length, 1);
    await desk.turn("read a.txt");
    await (await desk.openChat()).getByRole("textbox", { name: "Message to Sidecar" }).waitFor();
  },

  async "one on PATH goes first"() {
    renameSync(given.daemon, join(given.bin, "sidecar"));
    await desk.run("Restart Daemon");
    await desk.until("the other daemon", () => started().length === 2);
    await desk.figures();
    assert.equal(started()[1].split(" ")[1], join(given.bin, "sidecar"));
  },
});
