// What the views work out by themselves: a history from what came, and whole texts from diffs. Runs the sources as they are.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";

const extension = new URL("../../../editors/vscode/src/", import.meta.url);
// Without the editor its texts come as they come in a page.
registerHooks({
  resolve: (name, context, next) => (name === "vscode" ? { url: new URL(`../media/vscode.ts${new URL(context.parentURL).search}`, extension).href, shortCircuit: true } : next(name, context)),
});

/** What words are in a language. */
function wording(language) {
  const bundle = new URL(`../l10n/bundle.l10n.${language}.json`, extension);
  const texts = existsSync(bundle) ? readFileSync(bundle, "utf8") : "";
  globalThis.document = { documentElement: { lang: language, dataset: { texts } } };
  return import(new URL(`wording.ts?${language}`, extension));
}

const { joined } = await import(new URL("views/replay.ts", extension));
const { money, plainTitle, servers } = await wording("en");
const { rows, sidesOf, unified } = await import(new URL("views/hunks.ts", extension));
const { cut, decoded, encoded, says } = await import(new URL("views/visible.ts", extension));
const { applied, side, takenOut, turned } = await import(new URL("unified.ts", extension));

const chunk = (partId, text) => ({ sessionUpdate: "agent_message_chunk", content: { type: "text", text }, _meta: { sidecar: { seq: 0, partId } } });
const call = (sessionUpdate, status) => ({ sessionUpdate, toolCallId: "c", status, _meta: { sidecar: { seq: 0, partId: "c" } } });
const notice = { sessionUpdate: "notice", level: "info", message: "hm" };

// Nothing went on meanwhile.
assert.deepEqual(joined([chunk("a", "one"), call("tool_call", "completed"), chunk("b", "two")]), [chunk("a", "one"), call("tool_call", "completed"), chunk("b", "two")]);
// A part streamed on before it was replayed, and after.
assert.deepEqual(joined([chunk("b", "th"), chunk("b", "ree"), notice, chunk("a", "one"), chunk("b", "two three"), chunk("b", " four")]), [notice, chunk("a", "one"), chunk("b", "two three four")]);
// A prompt that was typed meanwhile comes twice.
assert.deepEqual(joined([chunk("u", "go on"), chunk("a", "one"), chunk("u", "go on")]), [chunk("a", "one"), chunk("u", "go on")]);
// A call changed before it was replayed, and after.
const late = [call("tool_call_update", "in_progress"), chunk("a", "one"), call("tool_call", "in_progress"), call("tool_call_update", "completed")];
assert.deepEqual(joined(late), late.slice(1));

assert.deepEqual(["`a` and ``b`c``", "no `pair", "plain"].map(plainTitle), ["a and b`c", "no `pair", "plain"]);
assert.deepEqual(["a%20b", "50%", "%ZZ"].map((text) => decoded(text)), ["a b", "50%", "%ZZ"]);
assert.equal(decoded("a%20b%23", decodeURI), "a b%23");
// Half of a pair of surrogates has no address.
assert.deepEqual(["a b", "\u{1f600}", "a\ud83d"].map(encoded), ["a%20b", "%F0%9F%98%80", "a%EF%BF%BD"]);
assert.deepEqual([cut("ab\u{1f600}cd", 3), cut("ab\u{1f600}", 3)], ["ab\u{1f600}…", "ab\u{1f600}"]);
assert.deepEqual(servers({ toolsByServer: { notes: 4, web: 9 } }), [["web", 9], ["notes", 4]]);

const prices = { 0: "$0.00", "0.00001": "<0.1 ¢", "0.0005": "0.1 ¢", "0.0031": "0.3 ¢", "0.00994": "1.0 ¢", "0.00996": "$0.01", "0.0305293": "$0.03", "1234.5": "$1,234.50" };
assert.deepEqual(Object.keys(prices).map(money), Object.values(prices));
assert.equal(money(null), "unknown");

/** Numbers of a language, with plain spaces. */
async function written(language) {
  const { clock, costs, count, many, money, short, TURNS, ZONES } = await wording(language);
  const cost = { session: "1.5", nextRequest: "0.0031", compactNow: null };
  const all = [count(12345), short(1234), many(1, ...TURNS), many(1000, ...TURNS), money("1234.5"), clock(90_000), ZONES.red, costs({ cost })];
  return all.map((text) => text.replace(/\s/g, " "));
}
assert.deepEqual(await written("en"), ["12,345", "1.2k", "1 turn", "1,000 turns", "$1,234.50", "2 min", "red", "$1.50 so far, next request 0.3 ¢"]);
assert.deepEqual(await written("de"), ["12.345", "1,2k", "1 Runde", "1.000 Runden", "1.234,50 $", "2 min", "rot", "bisher 1,50 $, nächste Anfrage 0,3 ¢"]);
// French says one of none; where there are no texts in it, they are English.
assert.equal((await wording("fr")).many(0, "{0} turn", "{0} turns"), "0 turns");
assert.deepEqual(await written("zh-cn"), ["12,345", "1.2k", "1 轮", "1,000 轮", "$1,234.50", "2 分钟", "红", "目前 $1.50，下次请求 0.3 ¢"]);

const before = "one\ntwo\nthree\nfour";
const after = "one\nzwei\nthree\nfour\nfive\n";
const diff = "--- a/x\n+++ b/x\n@@ -1,4 +1,5 @@\n one\n-two\n+zwei\n three\n-four\n\\ No newline at end of file\n+four\n+five\n";
assert.equal(applied(before, diff), after);
assert.equal(takenOut(after, diff), before);
assert.equal(takenOut("other\n", diff), undefined);
assert.equal(takenOut("new\n", "@@ -0,0 +1 @@\n+new\n"), "");
assert.equal(takenOut("", "@@ -1 +0,0 @@\n-old\n"), "old\n");
assert.equal(takenOut("same\n", ""), "same\n");
assert.equal(side(diff, "-"), before);
// The other way round it is read as any diff: what goes stands first.
assert.equal(turned("@@ -4,3 +4,2 @@\n a\n-new\n-more\n+old\n b\n"), "@@ -4,2 +4,3 @@\n a\n-old\n+new\n+more\n b\n");
assert.equal(applied(after, turned(diff)), before);

// An edit that is asked about stands in the whole file, where its hunks have one place there, and alone elsewhere.
const hunk = { oldText: "b\nc\n", newText: "b\nC\n" };
assert.deepEqual(sidesOf("a\r\nb\r\nc\r\nd\r\n", [hunk]), ["a\nb\nc\nd\n", "a\nb\nC\nd\n"]);
assert.deepEqual(sidesOf("b\nc\nb\nc\n", [hunk]), ["b\nc\n", "b\nC\n"]);
assert.deepEqual(sidesOf("ab\nc\n", [hunk]), ["b\nc\n", "b\nC\n"]);
assert.deepEqual(sidesOf("b\nc\nx\ny", [hunk, { oldText: "x\ny", newText: "x" }]), ["b\nc\nx\ny", "b\nC\nx"]);
assert.deepEqual(sidesOf("other\n", [hunk, { oldText: "x\n", newText: "" }]), ["b\nc\n⋯\nx\n", "b\nC\n⋯\n"]);
assert.deepEqual(sidesOf("", [{ oldText: null, newText: "new\n" }]), ["", "new\n"]);
assert.deepEqual(sidesOf("meanwhile\n", [{ oldText: null, newText: "new\n" }]), ["", "new\n"]);

// Lines that look like a diff's head are lines as any other: a question hides none.
const asked = unified([{ oldText: "int i;\n-- note\nend\n", newText: "int i;\n++ i, run();\nend\n" }]);
assert.deepEqual(rows(asked), ["@@", " int i;", "--- note", "+++ i, run();", " end"]);
assert.deepEqual(rows("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two\n"), ["@@ -1 +1 @@", "-one", "+two"]);
assert.deepEqual(rows("--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n--- one\n"), ["@@ -1 +0,0 @@", "--- one"]);

// A title says all of the input of a tool of ours, and of no other's, whatever stands in both by chance.
for (const [title, given] of [
  ["Run in sub: ls", { command: "ls", cwd: "sub" }],
  ["Subtask “look”: Run ls", { command: "ls" }],
  ["Read a b.py", { path: "a b.py" }],
  ["mcp__clock__now", {}],
]) assert.ok(says(title, given), title);
for (const [title, given] of [
  ["mcp__db__do all, then drop", { text: "all, then drop", action: "drop" }],
  ["mcp__files__write_file notes.md", { path: "notes.md", content: "" }],
  ["mcp__git__push origin", { remote: "origin", mode: "push" }],
  ["mcp__sh__run ls", { command: "ls" }],
  ["Run in sub: ls", { command: "in sub: ls" }],
  ["Run in a: b: ls", { command: "ls", cwd: "a: b" }],
  ["Read a", { path: ["a"] }],
  ["mcp__x__y", ["rm"]],
]) assert.ok(!says(title, given), title);
