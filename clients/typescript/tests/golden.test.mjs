// Every golden message has the type that the protocol names, as the compiler sees it.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const HERE = join(import.meta.dirname, "..");
const GOLDEN = join(HERE, "../../protocol/golden");
const OUT = join(HERE, "dist/golden");
const TSC = join(HERE, "node_modules/.bin/tsc");

/** Give what the compiler says of these messages as values of their types. */
function compile(name, lines) {
  mkdirSync(OUT, { recursive: true });
  const file = join(OUT, `${name}.ts`);
  writeFileSync(file, ['import type * as protocol from "../../src/protocol.js";', ...lines].join("\n"));
  const options = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--module", "nodenext", "--skipLibCheck", "--ignoreConfig"];
  try {
    execFileSync(TSC, [...options, file], { cwd: HERE, encoding: "utf8" });
    return "";
  } catch (error) {
    return `${error.stdout}`;
  }
}

test("golden messages have their types", { timeout: 60_000 }, () => {
  const messages = readdirSync(GOLDEN).map((name) => JSON.parse(readFileSync(join(GOLDEN, name), "utf8")));
  const typed = messages.filter(({ type, part }) => type && part !== "error");
  assert.ok(typed.length > 50);
  const lines = typed.map(({ type, part, message }, index) => `export const m${index}: protocol.${type} = ${JSON.stringify(message[part])};`);
  assert.equal(compile("typed", lines), "");
});

test("the compiler would see it if one had not", { timeout: 60_000 }, () => {
  assert.match(compile("wrong", ["export const m: protocol.SessionPromptParams = { sessionId: 1, prompt: [] };"]), /TS2322/);
});
