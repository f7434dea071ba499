// A folder that brings settings of its own, in an editor that trusts it: they give it no power.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openDesk } from "./desk.mjs";
import { play } from "./play.mjs";

const given = JSON.parse(process.argv[2]);
const desk = await openDesk(given);

await play(desk, {
  async "the user's daemon is started, and not the one that the folder names"() {
    await desk.figures();
    assert.ok(readFileSync(given.pids, "utf8").includes(given.daemon));
    assert.ok(!existsSync(join(given.workspace, "started.txt")));
  },

  async "a rule that the folder has allows nothing"() {
    await desk.send("run `echo ran > ran.txt`");
    await desk.toast("may this run?").locator("a", { hasText: "Reject" }).first().click();
    await desk.idle();
    assert.ok(!existsSync(join(given.workspace, "ran.txt")));
  },
});
