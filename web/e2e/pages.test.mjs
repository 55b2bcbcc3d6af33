// Every page in both themes and sizes, for everyone: axe, no sideways scrolling, settings that stay, the history.

import assert from "node:assert/strict";
import { after, before, checkAccess, checkWidth, column, DESKTOP, eventually, gameOf, headline, HUGE, moves, PHONE, screenshot, startBrowser, startServer, TINY, test } from "./harness.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

/** A finished game at one screen, by the API of the visitor's own page. */
async function playedGame(page, columns, changes = {}) {
  return page.evaluate(
    async ({ columns, changes }) => {
      const post = (path, body) =>
        fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }).then((answer) => answer.json());
      const game = await post("/api/games", {
        setup: { cols: 7, rows: 6, connect: 4, ruleset: "standard" },
        seats: [{ kind: "human" }, { kind: "human" }],
        first: 0,
        clock: null,
        ...changes,
      });
      for (const [ply, column] of columns.entries()) await post(`/api/games/${game.id}/moves`, { column, ply });
      return game.id;
    },
    { columns, changes },
  );
}

const WON = [4, 5, 4, 5, 4, 5, 4];

for (const [size, options] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
  for (const colorScheme of ["light", "dark"]) {
    test(`axe and the width of every page, ${size}, ${colorScheme}`, async () => {
      const { page, close } = await browser.visit(server.base, { ...options, colorScheme }, { mayFail: /404/ });
      const won = await playedGame(page, WON);
      const begun = await playedGame(page, [4, 4, 3]);
      const wide = await playedGame(page, [1, 20], { setup: { cols: 35, rows: 2, connect: 4, ruleset: "lines" } });
      const paths = {
        home: "/",
        new: "/new",
        algorithm: "/new?kind=algorithm",
        watch: "/new?kind=watch",
        games: "/games",
        settings: "/settings",
        about: "/about",
        missing: "/nowhere",
        won: `/game/${won}`,
        begun: `/game/${begun}`,
        wide: `/game/${wide}`,
        unknown: "/game/none",
      };
      for (const [name, path] of Object.entries(paths)) {
        await page.goto(server.base + path);
        await page.waitForLoadState("networkidle");
        await page.locator("main h1").waitFor({ state: "attached" });
        await checkAccess(page, name);
        await checkWidth(page, name);
        await screenshot(page, `${name}-${size}-${colorScheme}`);
      }
      const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const [red = 0] = background.match(/\d+/g)?.map(Number) ?? [];
      assert.equal(red < 64, colorScheme === "dark", `the background is ${background}`);
      await close();
    });
  }
}

for (const [size, options] of Object.entries({ "320": TINY, "4k": HUGE })) {
  test(`every page fits ${size}`, async () => {
    const { page, close } = await browser.visit(server.base, options);
    const won = await playedGame(page, WON);
    const tall = await playedGame(page, [1, 2], { setup: { cols: 3, rows: 35, connect: 4, ruleset: "standard" } });
    for (const [name, path] of Object.entries({ home: "/", new: "/new", games: "/games", settings: "/settings", about: "/about", won: `/game/${won}`, tall: `/game/${tall}` })) {
      await page.goto(server.base + path);
      await page.waitForLoadState("networkidle");
      await checkWidth(page, name);
      await screenshot(page, `${name}-${size}`);
    }
    await page.goto(`${server.base}/game/${won}`);
    const board = await page.locator(".board svg").first().boundingBox();
    const { width, height } = page.viewportSize();
    assert.ok(board.height <= height, "the board fits the window");
    assert.ok(board.width > Math.min(width, height) * 0.6, "the board uses the window");
    await close();
  });
}

test("a game by touch on a phone", async () => {
  const { page, close } = await browser.visit(server.base, PHONE);
  await column(page, 4).tap();
  await page.waitForURL(/\/game\//);
  await eventually("both have moved", async () => (await moves(page)) === 2 || (await moves(page)));
  await eventually("it is your turn", async () => (await headline(page)) === "Your turn");
  await column(page, 3).tap();
  await eventually("both have moved again", async () => (await moves(page)) === 4 || (await moves(page)));
  const board = await page.locator(".board svg").first().boundingBox();
  assert.ok(board.width > 330, "the board is as wide as the phone");
  await screenshot(page, "game-phone");
  await close();
});

test("settings stay, and show at once", async () => {
  const { page, close } = await browser.visit(`${server.base}/settings`);
  await page.getByRole("radio", { name: "Dark" }).check();
  await page.getByRole("radio", { name: /^Clear/ }).check();
  await page.getByLabel("Your name").fill("Ada");
  const state = () => page.evaluate(() => ({ ...document.documentElement.dataset }));
  assert.deepEqual(await state(), { theme: "dark", palette: "clear", motion: "reduced" });
  await page.reload();
  assert.deepEqual(await state(), { theme: "dark", palette: "clear", motion: "reduced" });
  assert.equal(await page.getByLabel("Your name").inputValue(), "Ada");

  const id = await playedGame(page, [4, 5]);
  await page.goto(`${server.base}/game/${id}`);
  await page.locator(".frame .disc.bold").first().waitFor();
  await page.getByText("Blue to move").waitFor();
  await checkAccess(page, "the colour-blind safe palette in the dark");
  await screenshot(page, "clear-dark");
  await close();
});

test("discs fall, unless the person wants no movement", async () => {
  const { page, close } = await browser.visit(server.base, { ...DESKTOP, reducedMotion: "no-preference" });
  const id = await playedGame(page, []);
  await page.goto(`${server.base}/game/${id}`);
  await column(page, 4).click();
  const falling = () => page.evaluate(() => document.getAnimations().filter((animation) => animation.effect?.target?.closest?.(".frame")).length);
  assert.ok((await falling()) > 0, "a disc is falling");
  await page.emulateMedia({ reducedMotion: "reduce" });
  await eventually("the page has heard", async () => (await page.evaluate(() => document.documentElement.dataset.motion)) === "reduced");
  await eventually("the disc is in", async () => (await moves(page)) === 1 && (await falling()) === 0);
  await column(page, 3).click();
  assert.equal(await falling(), 0, "nothing moves");
  await close();
});

test("the history: found again, filtered, replayed and deleted", async () => {
  const { page, close } = await browser.visit(server.base);
  const won = await playedGame(page, WON);
  await playedGame(page, [1, 2], { setup: { cols: 5, rows: 4, connect: 4, ruleset: "lines" } });
  await playedGame(page, [4], { seats: [{ kind: "human" }, { kind: "agent", agent: "level:2" }] });
  const tiles = () => page.locator(".tile").count();
  const shows = (number) => eventually(`${number} games are shown`, async () => (await tiles()) === number || (await tiles()));

  await page.goto(server.base);
  await page.getByRole("link", { name: "All games" }).click();
  await page.waitForURL(/\/games$/);
  await shows(3);
  await page.getByRole("combobox", { name: "Rules" }).selectOption("lines");
  await shows(1);
  await page.getByRole("combobox", { name: "Rules" }).selectOption("");
  await page.getByLabel("Computer opponent").selectOption("level:2");
  await shows(1);
  await page.getByLabel("Computer opponent").selectOption("");
  await page.getByLabel("Status").selectOption("finished");
  await shows(1);
  await page.getByLabel("Board").selectOption("9x7");
  await page.getByText("No game matches these filters.").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await shows(3);
  await screenshot(page, "history");

  await page.locator(`.tile[href="/game/${won}"]`).click();
  await page.waitForURL(/\/game\//);
  await eventually("it is the game", async () => (await headline(page)) === "Red won" || (await headline(page)));
  assert.equal((await gameOf(page)).moves.length, WON.length);
  await page.goBack();
  await shows(3);
  const remove = page.locator("li", { has: page.locator(`.tile[href="/game/${won}"]`) }).getByRole("button");
  await remove.click();
  await shows(3);
  await remove.click();
  await shows(2);
  await page.reload();
  await shows(2);

  // Another visitor has none of these, and cannot delete them.
  const other = await browser.visit(`${server.base}/games`);
  await other.page.getByText("No games yet").waitFor();
  await other.close();
  await close();
});

test("a palette for each taste", async () => {
  const { page, close } = await browser.visit(server.base);
  const won = await playedGame(page, WON);
  for (const palette of ["classic", "clear", "walnut", "dusk"]) {
    await page.evaluate((palette) => localStorage.setItem("claimeven.settings", JSON.stringify({ palette })), palette);
    await page.goto(`${server.base}/game/${won}`);
    await page.locator(".board svg").first().waitFor();
    await checkAccess(page, palette);
    await screenshot(page, `palette-${palette}`);
  }
  await close();
});
