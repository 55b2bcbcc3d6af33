// Longer sessions: one game after another, back and forth between games, two tabs, watching, replaying. Everything is done by
// click, key or touch on visible elements.

import assert from "node:assert/strict";
import { after, announced, before, clickColumn, column, DESKTOP, discs, eventually, headline, PHONE, pause, screenshot, startBrowser, startServer, smoothTest as test, untilYourTurn } from "./harness.mjs";

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

/** Drops a disc in the first free column of a list, and waits for the reply or the end. */
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
    // The next step: a move in the new game.
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
  // As in the history list of the Back button: from one game straight to the other.
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
  // From one live game to the other through the history, a move there, and back.
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

/** Watches every frame for a disc that starts to fall while another is in the air, a winning row through an empty hole, and texts
    that appear before their disc has landed. */
async function watchMovement(page) {
  await page.evaluate(() => {
    const faults = (globalThis.faults = []);
    const air = () => document.getAnimations().filter((one) => one.effect?.target?.closest?.(".frame") && one.effect.target.querySelector(".disc") && one.playState === "running");
    const look = () => {
      const falling = air();
      if (falling.length > 1) faults.push(`${falling.length} discs in the air`);
      if (falling.length > 0) {
        if (document.querySelector("svg .ring")) faults.push("a winning row while a disc falls");
        if (/won|lost|Draw/.test(document.querySelector(".headline")?.textContent ?? "")) faults.push("a result while a disc falls");
      }
      requestAnimationFrame(look);
    };
    look();
  });
  return () => page.evaluate(() => [...new Set(globalThis.faults)]);
}

const newGame = async (page, name) => {
  await page.getByRole("button", { name }).click();
  await page.waitForURL(/\/game\//);
  await page.locator(".board svg").first().waitFor();
};

test("two moves a second: no disc hangs in the air, no winning row through an empty cell, and the reply waits for the disc", async () => {
  const { page, close } = await browser.visit(server.base, { ...DESKTOP, ...MOVING });
  await newGame(page, /Local game/);
  const faults = await watchMovement(page);
  for (const number of [4, 5, 4, 5, 4, 5, 4]) {
    await column(page, number).click();
    await pause(450);
  }
  await eventually("red has won", async () => (await headline(page)) === "Red won" || (await headline(page)));
  assert.equal(await discs(page), 7);
  assert.ok((await page.locator("svg .ring").count()) >= 4);
  assert.deepEqual(await faults(), []);
  await page.getByRole("button", { name: "Play again" }).click();
  await eventually("the next game is on", async () => (await discs(page)) === 0);
  // As fast as possible: every click counts, and discs are put in place at once.
  const again = await watchMovement(page);
  for (const number of [1, 2, 1, 2]) await page.keyboard.press(String(number)).then(() => pause(120));
  await eventually("all four are there", async () => (await discs(page)) === 4 || (await discs(page)));
  assert.deepEqual(await again(), []);
  await close();
});

test("the computer's reply waits for the user's disc, and the status text for the reply", async () => {
  const { page, close } = await browser.visit(server.base, { ...DESKTOP, ...MOVING });
  await level(page, 1);
  await newGame(page, "Play level 1");
  await untilYourTurn(page);
  await page.evaluate(() => {
    const log = (globalThis.log = []);
    const look = () => {
      const now = { ms: performance.now(), discs: document.querySelectorAll(".frame .disc").length - document.querySelectorAll(".frame .waiting .disc").length, said: document.querySelector(".headline")?.textContent };
      const last = log.at(-1);
      if (!last || last.discs !== now.discs || last.said !== now.said) log.push(now);
      requestAnimationFrame(look);
    };
    look();
  });
  const before = await discs(page);
  await column(page, 4).click();
  await eventually("the reply is there", async () => (await discs(page)) === before + 2);
  await untilYourTurn(page);
  await pause(300);
  const log = await page.evaluate(() => globalThis.log);
  const own = log.find((one) => one.discs === before + 1);
  const reply = log.find((one) => one.discs === before + 2);
  const turn = log.find((one) => one.ms > own.ms + 50 && one.discs === before + 2 && one.said === "Your turn");
  assert.ok(reply.ms - own.ms >= 380, `the reply came after ${reply.ms - own.ms} ms`);
  assert.notEqual(reply.said, "Your turn", "it is one's turn when the reply has landed");
  assert.ok(turn.ms - reply.ms >= 150, `'Your turn' came ${turn.ms - reply.ms} ms after the reply began to fall`);
  await close();
});

test("with reduced motion, moves appear at once", async () => {
  const { page, close } = await browser.visit(server.base);
  await newGame(page, /Local game/);
  // Faster than any server answers: every key counts.
  for (const number of [4, 5, 4, 5, 4, 5, 4]) await page.keyboard.press(String(number));
  await eventually("red has won", async () => (await headline(page)) === "Red won" || (await headline(page)));
  assert.equal(await page.evaluate(() => document.getAnimations().filter((one) => one.effect?.target?.querySelector?.(".disc")).length), 0);
  await close();
});

for (const [name, options] of [["desktop", { ...DESKTOP, ...MOVING }], ["phone, dark", { ...PHONE, ...MOVING, ...DARK }]]) {
  test(`two computers are watched at a chosen speed, and the game is replayed: ${name}`, async () => {
    const { page, close } = await browser.visit(server.base, options);
    await newGame(page, "Watch the computer");
    const faults = await watchMovement(page);
    await pause(3_000);
    const early = await discs(page);
    assert.ok(early >= 1 && early <= 5, `${early} discs after 3 s`);
    await screenshot(page, `watching-paced-${options.isMobile ? "phone" : "desktop"}`);

    await page.getByRole("button", { name: "Pause" }).click();
    const paused = await discs(page);
    await pause(1_500);
    assert.equal(await discs(page), paused, "it stands still");
    await page.getByRole("button", { name: "Step forward" }).click();
    await eventually("a step", async () => (await discs(page)) === paused + 1 || (await discs(page)));
    await page.getByRole("button", { name: "Step back" }).click();
    await eventually("a step back", async () => (await discs(page)) === paused || (await discs(page)));
    await page.getByLabel("Speed").selectOption("Fast");
    await page.getByRole("button", { name: "Play", exact: true }).click();
    await eventually("it continues", async () => (await discs(page)) > paused + 2);
    await page.getByLabel("Speed").selectOption("Live");
    await eventually("it is over", async () => /won|Draw/.test(await headline(page)) || (await headline(page)));
    const all = await discs(page);
    assert.ok(all > paused);

    // Replay the game from the start and step through it by keyboard, with announcements.
    await page.getByRole("button", { name: "Replay" }).click();
    await eventually("it begins again", async () => (await discs(page)) <= 1 || (await discs(page)));
    await eventually("and plays", async () => (await discs(page)) >= 2);
    assert.deepEqual(await faults(), []);
    await page.getByRole("button", { name: "Pause" }).click();
    await page.keyboard.press("Home");
    await eventually("the start is read out", async () => (await announced(page)) === "Start position." || (await announced(page)));
    await page.keyboard.press(".");
    await eventually("the first move is read out", async () => /^Move 1 of \d+: /.test(await announced(page)) || (await announced(page)));
    await page.keyboard.press("End");
    await eventually("the end is there", async () => (await discs(page)) === all || (await discs(page)));
    await close();
  });
}
