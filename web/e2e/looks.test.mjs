// A game at every screen size, by touch, with different settings and languages.

import assert from "node:assert/strict";
import { after, before, checkAccess, checkWidth, column, DESKTOP, eventually, headline, HUGE, localGame, moves, PHONE, screenshot, SIDEWAYS, SMALL_SIDEWAYS, startBrowser, startServer, test, TINY, ZOOMED } from "./harness.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const SIZES = { "844x390": SIDEWAYS, "667x375": SMALL_SIDEWAYS, "320x568": TINY, zoom200: ZOOMED, "4k": HUGE };

for (const [size, options] of Object.entries(SIZES)) {
  test(`a game at ${size}: the board and its controls are on the first screen`, async () => {
    const { page, close } = await browser.visit(server.base, options);
    await column(page, 4).click();
    await page.waitForURL(/\/game\//);
    await eventually("both have moved", async () => (await moves(page)) === 2 || (await moves(page)));
    const { width, height } = page.viewportSize();
    for (const part of [page.locator(".board svg").first(), page.getByRole("button", { name: "Undo" }), page.getByRole("button", { name: "Hint" }), page.getByRole("button", { name: "Resign" })]) {
      const box = await part.boundingBox();
      assert.ok(box && box.x >= 0 && box.y >= 0 && box.x + box.width <= width + 1 && box.y + box.height <= height + 1, `${part} is at ${JSON.stringify(box)} in ${width} x ${height}`);
    }
    const board = await page.locator(".board svg").first().boundingBox();
    assert.ok(board.width > Math.min(width, height) * 0.6, `the board uses the window: ${board.width} of ${width} x ${height}`);
    await checkWidth(page, `a game at ${size}`);
    await screenshot(page, `size-game-${size}`);
    // The next step: another move, at this size.
    await column(page, 3).click();
    await eventually("both have moved again", async () => (await moves(page)) === 4 || (await moves(page)));
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

test("settings apply at once and are kept", async () => {
  const { page, close } = await browser.visit(`${server.base}/settings`);
  await page.getByRole("radio", { name: "Dark" }).check();
  await page.getByRole("radio", { name: /^Clear/ }).check();
  await page.getByLabel("Your name").fill("Ada");
  const state = () => page.evaluate(() => ({ ...document.documentElement.dataset }));
  assert.deepEqual(await state(), { theme: "dark", palette: "clear", motion: "reduced" });
  await page.reload();
  assert.deepEqual(await state(), { theme: "dark", palette: "clear", motion: "reduced" });
  assert.equal(await page.getByLabel("Your name").inputValue(), "Ada");

  await localGame(page, server.base, [4, 5]);
  await page.locator(".frame .disc.bold").first().waitFor();
  await page.getByText("Blue to move", { exact: true }).waitFor();
  await checkAccess(page, "the colour-blind safe palette in the dark");
  await screenshot(page, "clear-dark");
  await close();
});

test("discs fall, unless the user prefers reduced motion", async () => {
  const { page, close } = await browser.visit(server.base, { ...DESKTOP, reducedMotion: "no-preference" });
  await page.getByRole("button", { name: /^Local game/ }).click();
  await page.waitForURL(/\/game\//);
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

test("the language is chosen in the settings, and is kept", async () => {
  const { page, close } = await browser.visit(`${server.base}/settings`);
  await page.getByLabel("Language").selectOption("Deutsch");
  await page.getByRole("heading", { name: "Einstellungen", level: 1 }).waitFor();
  await page.getByLabel("Sprache").selectOption("Español");
  await page.getByRole("heading", { name: "Ajustes", level: 1 }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Ajustes", level: 1 }).waitFor();
  await page.goto(server.base);
  await column(page, 4).click();
  await page.waitForURL(/\/game\//);
  await page.getByText("Te toca").first().waitFor();
  await close();
});
