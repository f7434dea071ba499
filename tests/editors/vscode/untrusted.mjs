// A folder that the user does not trust, and then does.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openDesk } from "./desk.mjs";
import { play } from "./play.mjs";

const given = JSON.parse(process.argv[2]);
const desk = await openDesk({ ...given, trust: "ask" });
const { page } = desk;
const made = join(given.workspace, "made.txt");

await page.locator(".statusbar-item", { hasText: "Restricted Mode" }).waitFor();
await play(desk, {
  async "nothing is changed in a folder that is not trusted"() {
    await desk.figures();
    await desk.turn("create made.txt with `x`");
    assert.ok(!existsSync(made));
    await desk.picture("refused");
  },

  async "once it is trusted, the daemon is told"() {
    await desk.run("Manage Workspace Trust", "Workspaces");
    await page.locator(".workspace-trust-editor .monaco-button", { hasText: "Trust" }).first().click();
    await desk.until("a daemon that was told", () => readFileSync(given.pids, "utf8").trim().split("\n").length > 1);
    await desk.turn("create made.txt with `x`");
    assert.ok(existsSync(made));
    await desk.picture("trusted");
  },
});
