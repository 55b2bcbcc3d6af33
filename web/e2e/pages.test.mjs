// Every kind of page in every size, theme and language, with games, a tournament and a training run that a visitor made on the
// page: axe finds nothing, no page is wider than its window, no text overflows, and each page has its screenshot.

import assert from "node:assert/strict";
import { after, before, checkAccess, checkWidth, DESKTOP, eventually, HUGE, localGame, PHONE, resignedGame, screenshot, SIDEWAYS, SMALL_SIDEWAYS, startBrowser, startServer, test, TINY, ZOOMED } from "./harness.mjs";

const WON = [4, 5, 4, 5, 4, 5, 4];
const ERRORS = [3, 6, 6, 4, 7, 4, 7, 3, 4, 1, 1, 5, 6, 2, 3, 4, 4, 2, 5, 5, 5];

let server, browser, made;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  made = await setUp();
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

/** What the visitor has done before: their cookie, and the addresses of what they made. */
async function setUp() {
  const { page, context, close } = await browser.visit(server.base);
  const training = await startTraining(page);
  const cup = await startTournament(page);
  const ids = {
    training,
    cup,
    won: await localGame(page, server.base, WON),
    begun: await localGame(page, server.base, [4, 4, 3]),
    wide: await localGame(page, server.base, [1, 20], { cols: 35, rows: 2, ruleset: "lines" }),
    tall: await localGame(page, server.base, [1, 2], { cols: 3, rows: 35 }),
    errors: await localGame(page, server.base, ERRORS),
  };
  for (const level of [1, 3]) await resignedGame(page, server.base, level, 4);
  await page.goto(`${server.base}/arena/${cup}`);
  await page.getByText("Finished", { exact: true }).waitFor();
  const storageState = await context.storageState();
  await close();
  return { ...ids, storageState };
}

async function startTraining(page) {
  await page.goto(`${server.base}/training`);
  await page.getByLabel("Board").selectOption("4x4");
  await page.getByLabel("Title").fill("Pupil");
  await page.getByRole("button", { name: "Start training" }).click();
  await page.waitForURL(/\/training\/\w+$/);
  await page.getByText(/^Iteration 2: /).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Stopped", { exact: true }).waitFor();
  return new URL(page.url()).pathname.split("/").at(-1);
}

/** Six players, some with long names. */
async function startTournament(page) {
  await page.goto(`${server.base}/arena`);
  for (let added = 0; added < 3; added++) await page.getByRole("button", { name: "Add player" }).click();
  const players = ["Level 1", "Alpha-beta", "Level 2", "Random", "Influence map", "Level 3"];
  for (const [index, name] of players.entries()) await page.getByRole("combobox", { name: `Player ${index + 1}`, exact: true }).selectOption(name);
  await page.getByRole("textbox", { name: "Depth" }).first().fill("2");
  await page.getByRole("textbox", { name: "Name" }).nth(4).fill("The one that looks at no move ahead");
  await page.getByLabel("Games per pairing", { exact: true }).fill("2");
  await page.getByText("30 games", { exact: true }).waitFor();
  await page.getByLabel("Title").fill("Cup of six");
  await page.getByRole("button", { name: "Start tournament" }).click();
  await page.waitForURL(/\/arena\/\w+$/);
  return new URL(page.url()).pathname.split("/").at(-1);
}

/** Each kind of page: its address, an element that shows it is ready, and what is opened on it in English. */
const PAGES = {
  home: { path: () => "/", ready: ".tile" },
  new: { path: () => "/new", ready: "form [type=submit]" },
  algorithm: { path: () => "/new?kind=algorithm", ready: "select option:nth-child(3)" },
  watch: { path: () => "/new?kind=watch", ready: "select option:nth-child(3)" },
  games: { path: () => "/games", ready: ".tile" },
  settings: { path: () => "/settings" },
  about: { path: () => "/about" },
  missing: { path: () => "/nowhere" },
  won: { path: () => `/game/${made.won}`, ready: ".buttons a[href$=review]" },
  share: { path: () => `/game/${made.won}`, ready: ".tools button", open: (page) => page.locator(".tools button").first().click() },
  begun: { path: () => `/game/${made.begun}`, ready: ".controls button" },
  wide: { path: () => `/game/${made.wide}`, ready: ".controls button" },
  tall: { path: () => `/game/${made.tall}`, ready: ".controls button" },
  unknown: { path: () => "/game/none", ready: ".page a.button" },
  analysis: { path: () => "/analysis?pos=147444324451355337366636", ready: "li.win, li.draw, li.loss" },
  "wide-analysis": { path: () => "/analysis?cols=20&rows=4", ready: ".verdict .headline" },
  "large-analysis": { path: () => "/analysis?pos=55&cols=9&rows=7&connect=5", ready: "li.open" },
  opinions: {
    path: () => "/analysis?pos=147444324451355337366636",
    ready: "li.win, li.draw, li.loss",
    english: true,
    open: async (page) => {
      await page.getByLabel("Show threats on the board").check();
      await page.getByLabel("Network without search").check();
      await page.getByLabel("Alpha-beta, depth 8").check();
      await eventually("both have spoken", async () => (await page.locator("article ul").count()) === 2);
      await page.locator("article").last().scrollIntoViewIfNeeded();
    },
  },
  setup: { path: () => "/analysis", ready: ".verdict", english: true, open: (page) => page.getByRole("button", { name: "Set up" }).click() },
  review: { path: () => `/game/${made.errors}/review`, ready: "[data-ply]" },
  learn: {
    path: () => `/game/${made.errors}/review`,
    ready: "[data-ply]",
    english: true,
    open: async (page) => {
      await page.getByRole("button", { name: "Learn from your mistakes" }).click();
      await page.getByText("Find the move.").waitFor();
    },
  },
  puzzles: { path: () => "/puzzles", ready: ".frame .disc" },
  lessons: { path: () => "/learn", ready: "main ol a" },
  lesson: { path: () => "/learn/zugzwang", ready: ".frame .disc" },
  tutorial: { path: () => "/learn/tutorial", ready: "main h1" },
  opening: { path: () => "/learn/opening", ready: ".frame" },
  statistics: { path: () => "/statistics", ready: ".explorer tbody tr" },
  lab: { path: () => "/lab", ready: ".pane canvas" },
  compare: {
    path: () => "/lab?view=compare",
    english: true,
    open: async (page) => {
      await page.getByRole("spinbutton", { name: "Maximum depth" }).fill("4");
      await page.getByRole("button", { name: "Compare" }).click();
      await eventually("all searches are there", async () => (await page.locator("tbody tr").count()) === 12);
    },
  },
  arena: { path: () => "/arena", ready: "select option:nth-child(3)" },
  cup: { path: () => `/arena/${made.cup}`, ready: "table" },
  nocup: { path: () => "/arena/none", ready: "main h1" },
  training: { path: () => "/training", ready: "form [type=submit]" },
  run: { path: () => `/training/${made.training}`, ready: "main section" },
  fleet: { path: () => "/fleet", ready: "code" },
  embed: { path: () => "/embed?pos=4453", ready: ".frame .disc" },
  "embed-game": { path: () => `/embed/game/${made.won}`, ready: ".frame .disc" },
};

/** Buttons, tabs and labels with clipped or overflowing text. Truncated text is fine if its title has it in full. */
const overflowing = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("button, a.button, nav a, label > span, legend, th, summary, h1, h2, h3, .card")]
      .filter((element) => element.textContent.trim() && element.checkVisibility() && element.clientWidth > 1 && !element.closest(".sr, [title]") && getComputedStyle(element).clipPath === "none")
      .filter((element) => element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== "inline")
      .map((element) => `${element.tagName} '${element.textContent.trim().slice(0, 60)}' is ${element.scrollWidth} wide in ${element.clientWidth}`),
  );

/** Words broken over two lines without a hyphen. */
const brokenWords = (page) =>
  page.evaluate(() => {
    const broken = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement;
      // Move texts are not words, and hidden text does not count.
      if (!node.data.trim() || !parent.checkVisibility() || getComputedStyle(parent).clipPath !== "none" || parent.closest("svg, option, textarea, .sr, .moves")) continue;
      for (const { 0: word, index } of node.data.matchAll(/[\p{L}\p{N}]{2,}/gu)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const tops = new Set([...range.getClientRects()].filter((box) => box.width > 0).map((box) => Math.round(box.top)));
        if (tops.size > 1) broken.add(`'${word}' in '${node.data.trim().slice(0, 40)}'`);
      }
    }
    return [...broken];
  });

const VIEWS = {
  "desktop-light": { options: DESKTOP, axe: true },
  "desktop-dark": { options: { ...DESKTOP, colorScheme: "dark" }, axe: true },
  "phone-light": { options: PHONE, axe: true },
  "phone-dark": { options: { ...PHONE, colorScheme: "dark" }, axe: true },
  "zoom200-dark": { options: { ...ZOOMED, colorScheme: "dark" }, axe: true },
  "844x390": { options: SIDEWAYS },
  "667x375": { options: SMALL_SIDEWAYS },
  320: { options: TINY, axe: true },
  "4k": { options: HUGE },
  "de-desktop": { options: { ...DESKTOP, locale: "de-DE" } },
  "de-phone": { options: { ...PHONE, locale: "de-DE" } },
  "es-desktop": { options: { ...DESKTOP, locale: "es-ES" } },
  "es-phone": { options: { ...PHONE, locale: "es-ES" } },
};

for (const [view, { options, axe }] of Object.entries(VIEWS)) {
  test(`every page, ${view}`, async () => {
    const language = options.locale?.slice(0, 2) ?? "en";
    const { page, close } = await browser.visit("about:blank", { ...options, storageState: made.storageState }, { mayFail: /404|429/ });
    for (const [name, { path, ready = "main h1", open, english }] of Object.entries(PAGES)) {
      if (english && language !== "en") continue;
      await page.goto(server.base + path());
      await page.locator("main h1, .embed h1").first().waitFor({ state: "attached" });
      await page.locator(ready).first().waitFor({ state: "attached" });
      await open?.(page);
      assert.equal(await page.evaluate(() => document.documentElement.lang), language);
      const where = `${name}, ${view}`;
      await checkWidth(page, where);
      assert.deepEqual(await overflowing(page), [], where);
      assert.deepEqual(await brokenWords(page), [], where);
      if (axe) await checkAccess(page, where);
      await screenshot(page, `${name}-${view}`);
    }
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const [red = 0] = background.match(/\d+/g)?.map(Number) ?? [];
    assert.equal(red < 64, options.colorScheme === "dark", `the background is ${background}`);
    await close();
  });
}

test("every palette", async () => {
  const { page, close } = await browser.visit(`${server.base}/settings`, { ...DESKTOP, storageState: made.storageState });
  for (const palette of ["Classic", "Clear", "Walnut", "Dusk"]) {
    await page.goto(`${server.base}/settings`);
    await page.getByRole("radio", { name: new RegExp(`^${palette}`) }).check();
    await page.goto(`${server.base}/game/${made.won}`);
    await page.locator(".board svg").first().waitFor();
    await checkAccess(page, palette);
    await screenshot(page, `palette-${palette.toLowerCase()}`);
  }
  await close();
});

test("the menu of a phone leads to another page and closes", async () => {
  const { page, close } = await browser.visit(`${server.base}/statistics`, PHONE);
  await page.getByRole("button", { name: "More pages" }).tap();
  await checkAccess(page, "the menu");
  await screenshot(page, "menu-phone");
  await page.getByRole("link", { name: "Analysis", exact: true }).tap();
  await page.waitForURL(/\/analysis/);
  assert.equal(await page.locator("#menu").isVisible(), false);
  await close();
});
