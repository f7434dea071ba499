// A view's page in a real browser, with VS Code's styles and colours but without VS Code; nothing comes from a network.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** Milliseconds that anything on the page may take. */
const LIMIT = 10_000;
const ORIGIN = "https://views.invalid";
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const KINDS = { ".js": "text/javascript", ".css": "text/css", "html": "text/html" };

/** VS Code's own styles for webviews, as far as pages can see them. */
const DEFAULTS = `@layer vscode-default {
  html { background: var(--vscode-sideBar-background); scrollbar-color: var(--vscode-scrollbarSlider-background) transparent; }
  body { color: var(--vscode-editor-foreground); font-family: var(--vscode-font-family); font-size: var(--vscode-font-size); margin: 0; padding: 0 20px; }
  a, a code { color: var(--vscode-textLink-foreground); }
  textarea:focus { outline: 1px solid -webkit-focus-ring-color; }
  code { color: var(--vscode-textPreformat-foreground); background-color: var(--vscode-textPreformat-background); padding: 1px 3px; }
  pre code { padding: 0; }
  ::-webkit-scrollbar { width: 10px; height: 10px; }
  ::-webkit-scrollbar-thumb { background-color: var(--vscode-scrollbarSlider-background); }
}`;

/** `given`: playwright (a folder that has it and axe), chromium, pages (the built ones), pictures, name of the view. */
export async function openPage(given, name) {
  const { chromium } = createRequire(join(given.playwright, "package.json"))("playwright-core");
  const browser = await chromium.launch({ executablePath: given.chromium, args: FLAGS });
  const context = await browser.newContext({ viewport: { width: 400, height: 760 }, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(LIMIT);
  const view = new View(browser, page, given, name);
  await page.route("**/*", (route) => view.serve(route));
  page.on("console", (message) => message.type() === "error" && view.faults.push(message.text()));
  page.on("pageerror", (error) => view.faults.push(String(error)));
  await page.addInitScript(standIn, DEFAULTS);
  await view.open();
  return view;
}

/** What VS Code gives to a page: its styles and the way to the extension. */
function standIn(defaults) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(defaults);
  document.adoptedStyleSheets = [sheet];
  window.sent = [];
  window.acquireVsCodeApi = () => ({
    postMessage: (message) => window.sent.push(message),
    getState: () => JSON.parse(sessionStorage.getItem("state") ?? "null") ?? undefined,
    setState: (state) => sessionStorage.setItem("state", JSON.stringify(state)),
  });
}

class View {
  faults = [];
  /** Another after a reload of the editor. */
  window = "first";

  constructor(browser, page, given, name) {
    Object.assign(this, { browser, page, given, name });
    this.themes = JSON.parse(readFileSync(new URL("themes.json", import.meta.url), "utf8"));
    this.axe = readFileSync(join(given.playwright, "node_modules/axe-core/axe.min.js"), "utf8");
    mkdirSync(given.pictures, { recursive: true });
  }

  async open() {
    await this.page.goto(`${ORIGIN}/${this.name}`);
    await this.theme("dark");
  }

  /** Only the built pages are served; anything else is a fault. */
  async serve(route) {
    const path = new URL(route.request().url()).pathname.slice(1);
    if (path === this.name) return route.fulfill({ contentType: KINDS.html, body: this.html() });
    const kind = KINDS[/\.\w+$/.exec(path)?.[0] ?? ""];
    if (!kind) {
      this.faults.push(`the page asked for ${route.request().url()}`);
      return route.abort();
    }
    return route.fulfill({ contentType: kind, body: readFileSync(join(this.given.pages, path)) });
  }

  html() {
    const given = { source: ORIGIN, nonce: "n0nce", base: ORIGIN, script: `${ORIGIN}/${this.name}.js`, name: this.name, title: this.name, language: "en", texts: "", window: this.window };
    return readFileSync(join(this.given.pages, "page.html"), "utf8").replace(/\{\{(\w+)\}\}/g, (_, key) => given[key]);
  }

  /** Show it in the colours of a theme: dark, light or contrast. */
  async theme(name) {
    await this.page.evaluate(({ kind, variables }) => {
      document.body.classList.remove("vscode-dark", "vscode-light", "vscode-high-contrast");
      document.body.classList.add(kind);
      document.documentElement.removeAttribute("style");
      for (const [variable, value] of Object.entries(variables)) document.documentElement.style.setProperty(variable, value);
    }, this.themes[name]);
  }

  /** Let the extension say something. */
  async post(...messages) {
    await this.page.evaluate((all) => {
      for (const message of all) window.postMessage(message, "*");
    }, messages);
    // Messages come before the frame after next.
    await this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  }

  /** What the page has sent of a kind, forgetting it. */
  async sent(type) {
    const all = await this.page.evaluate(() => window.sent.splice(0));
    return all.filter((message) => message.type === type);
  }

  /** What a screen reader was told last. */
  said() {
    return this.page.locator("[role=status]").textContent();
  }

  /** Pictures in all three themes. */
  async pictures(name, ...themes) {
    for (const theme of themes.length ? themes : Object.keys(this.themes)) {
      await this.theme(theme);
      await this.page.screenshot({ path: join(this.given.pictures, `${this.name}-${name}-${theme}.png`) });
    }
    await this.theme("dark");
  }

  /** The contrast of the first that a selector finds, by WCAG's formula. */
  contrast(selector) {
    return this.page.locator(selector).first().evaluate((element) => {
      const drawn = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
      const fill = (colour) => {
        drawn.fillStyle = colour;
        drawn.fillRect(0, 0, 1, 1);
      };
      const light = () => {
        const [red, green, blue] = [...drawn.getImageData(0, 0, 1, 1).data].map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
      };
      const behind = [];
      for (let each = element; each; each = each.parentElement) behind.unshift(getComputedStyle(each).backgroundColor);
      behind.forEach(fill);
      const back = light();
      fill(getComputedStyle(element).color);
      const [low, high] = [back, light()].sort((one, other) => one - other);
      return (high + 0.05) / (low + 0.05);
    });
  }

  /** Press Tab until something whose name has these words is focused. */
  async tabTo(words, key = "Tab") {
    for (let step = 0; step < 80; step += 1) {
      await this.page.keyboard.press(key);
      const name = await this.page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent);
      if (name.includes(words)) return;
    }
    assert.fail(`Tab does not lead to ${words}`);
  }

  /** As it stands now, every button has a name, the page a heading, all a place in it, and nothing was asked from a network or against the page's policy. */
  async sound() {
    const nameless = await this.page.evaluate(() =>
      [...document.querySelectorAll("button, summary, textarea, [tabindex='0']")]
        .filter((each) => each.checkVisibility() && !(each.getAttribute("aria-label") || each.textContent.trim()))
        .map((each) => each.outerHTML.slice(0, 200)),
    );
    assert.deepEqual(nameless, []);
    const outside = await this.page.evaluate(() => {
      const at = (each) => each.outerHTML.slice(0, 200);
      const labelled = [...document.querySelectorAll(":is(div, span)[aria-label]:not([role])")].map(at);
      return [...labelled, ...[...document.body.children].filter((each) => each.checkVisibility() && !each.matches("main, footer, [role=status], script")).map(at)];
    });
    assert.deepEqual(outside, [], "labels have roles, and all is in a landmark");
    const plainLinks = await this.page.evaluate(() => [...document.querySelectorAll(".markdown a")].filter((each) => each.checkVisibility() && getComputedStyle(each).textDecorationLine !== "underline").map((each) => each.outerHTML));
    assert.deepEqual(plainLinks, [], "links are not known by their colour alone");
    assert.equal(await this.page.locator("h1").count(), 1);
    await this.accessible();
    assert.deepEqual(this.faults, []);
  }

  /** axe finds nothing in any theme. */
  async accessible() {
    if (!(await this.page.evaluate(() => "axe" in window))) await this.page.evaluate(this.axe);
    for (const theme of Object.keys(this.themes)) {
      await this.theme(theme);
      const { violations } = await this.page.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
      const found = violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id} (${help}): ${html.slice(0, 200)}`));
      assert.deepEqual(found, [], theme);
    }
    await this.theme("dark");
  }
}

/** Play the steps one by one, say how each went, and end the process. The page is sound after each: what one leaves, another may take away. */
export async function play(view, steps) {
  let failed = false;
  for (const [name, step] of Object.entries(steps)) {
    const start = Date.now();
    try {
      await step();
      await view.sound();
      console.log(`ok ${name} (${Date.now() - start} ms)`);
    } catch (error) {
      console.log(`FAILED ${name}: ${error.stack}`);
      await view.pictures("failed", "dark");
      failed = true;
      break;
    }
  }
  await view.browser.close();
  process.exit(failed ? 1 : 0);
}
