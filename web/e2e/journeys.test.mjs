// Evenings of play as people have them: one game after another, back and forth between games, two tabs, watching, replaying.
// Everything is done by click, key or touch on what a person can see.

import assert from "node:assert/strict";
import { after, before, clickColumn, column, DESKTOP, discs, eventually, headline, PHONE, pause, screenshot, startBrowser, startServer, test, untilYourTurn } from "./harness.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser({ smooth: true });
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const MOVING = { reducedMotion: "no-preference" };
const DARK = { colorScheme: "dark" };
const level = async (page, number) => page.getByRole("slider", { name: /Level/ }).fill(String(number));

/** Drops a disc in the first column from a list that takes one, and waits for the other one's answer or the end. */
async function exchange(page, ways = [4, 3, 5, 2, 6, 1, 7], drop = clickColumn) {
  await untilYourTurn(page);
  const before = await discs(page);
  for (const number of ways) {
    if ((await column(page, number).getAttribute("aria-disabled")) === "true") continue;
    await drop(page, number);
    break;
  }
  await eventually("the other one has answered or the game is over", async () => {
    const said = await headline(page);
    return /won|lost|Draw/.test(said) || ((await discs(page)) === before + 2 && said === "Your turn") || [said, await discs(page)];
  });
  return !/won|lost|Draw/.test(await headline(page));
}

async function resign(page) {
  await page.getByRole("button", { name: "Resign", exact: true }).click();
  await page.getByRole("button", { name: "Resign now?" }).click();
  await eventually("the game is lost", async () => (await headline(page)) === "You lost" || (await headline(page)));
}

const drops = {
  click: clickColumn,
  key: (page, number) => page.keyboard.press(String(number)),
  touch: (page, number) => column(page, number).tap(),
};

for (const [name, options, drop, cpu] of [
  ["desktop, light, at full speed", DESKTOP, "click", 1],
  ["desktop, dark, by key, with movement", { ...DESKTOP, ...MOVING, ...DARK }, "key", 1],
  ["phone, light, by touch, with movement, slowed 4x", { ...PHONE, ...MOVING }, "touch", 4],
]) {
  test(`three games in a row by Play again: ${name}`, async () => {
    const { page, close, slow } = await browser.visit(server.base, options);
    await slow(cpu);
    await level(page, 1);
    await page.getByRole("button", { name: "Play level 1" }).click();
    await page.waitForURL(/\/game\//);
    const seen = new Set();
    for (let game = 0; game < 3; game++) {
      seen.add(page.url());
      let on = true;
      for (let turn = 0; turn < 3 && on; turn++) on = await exchange(page, undefined, drops[drop]);
      if (on) await resign(page);
      await page.getByRole("button", { name: "Play again" }).click();
      await eventually("the next game is on the screen", async () => !seen.has(page.url()) && (await discs(page)) <= 1);
    }
    // The person's next step: a move in the game after the last one.
    await exchange(page, undefined, drops[drop]);
    await close();
  });
}

test("Back, Forward and Back between two live games, with a move in each", async () => {
  const { page, close } = await browser.visit(server.base);
  await level(page, 1);
  await page.getByRole("button", { name: "Play level 1" }).click();
  await page.waitForURL(/\/game\//);
  const first = page.url();
  await exchange(page);
  const standing = await discs(page);
  await page.getByRole("link", { name: "Claimeven, home" }).click();
  await page.getByRole("button", { name: "Play level 1" }).click();
  await page.waitForURL((url) => /\/game\//.test(url.pathname) && url.href !== first);
  const second = page.url();
  await exchange(page, [1, 2]);
  // As the list behind the Back button does it: from one game straight to the other.
  for (const [steps, address, least] of [[-2, first, standing], [2, second, 2], [-2, first, standing + 2]]) {
    await page.evaluate((steps) => history.go(steps), steps);
    await page.waitForURL(address);
    await eventually("its discs are there", async () => (await discs(page)) >= least || (await discs(page)));
    await exchange(page, [2, 6, 5]);
  }
  await close();
});

test("two games in two tabs, and one opened from the history while another is live", async () => {
  const { page, context, watch, close } = await browser.visit(server.base);
  await level(page, 1);
  await page.getByRole("button", { name: "Play level 1" }).click();
  await page.waitForURL(/\/game\//);
  await exchange(page);
  const tab = watch(await context.newPage());
  await tab.goto(server.base);
  await tab.getByRole("button", { name: "Play level 1" }).click();
  await tab.waitForURL(/\/game\//);
  for (let turn = 0; turn < 2; turn++) {
    await exchange(tab, [7, 1]);
    await exchange(page, [1, 7]);
  }
  // From one live game to the other by the history, a move there, and back.
  const [one, other] = [page.url(), tab.url()];
  await page.getByRole("link", { name: "Games", exact: true }).click();
  await page.locator(`a[href="${new URL(other).pathname}"]`).first().click();
  await page.waitForURL(other);
  await exchange(page, [4, 3]);
  await exchange(page, [4, 3]);
  await page.goBack();
  await page.goBack();
  await page.waitForURL(one);
  await exchange(page, [4, 3]);
  await close();
});
