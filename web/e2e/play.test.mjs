// Games against the computer and local games: by mouse and keyboard, with undo and redo, to the end and beyond.

import assert from "node:assert/strict";
import { after, announced, before, column, discs, eventually, gameOf, headline, moves, screenshot, startBrowser, startServer, yourTurn, test } from "./harness.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

test("a whole game against the computer, from the first click to the next game", async () => {
  const { page, close } = await browser.visit(server.base);
  await column(page, 4).click();
  await page.waitForURL(/\/game\//);
  await eventually("both have moved", async () => (await moves(page)) === 2 || (await moves(page)));
  assert.equal((await gameOf(page)).players[1].agent, "level:3");
  await screenshot(page, "game-begun");

  // Play any free column until the game is over; each player has at most 21 discs.
  for (let turn = 0; turn < 21 && !(await gameOf(page)).result; turn++) {
    await yourTurn(page);
    const game = await gameOf(page);
    await column(page, game.legal[turn % game.legal.length]).click();
    await eventually("the computer has answered", async () => {
      const now = await gameOf(page);
      return now.result !== null || now.moves.length === game.moves.length + 2 || now.moves.length;
    });
  }
  const over = await gameOf(page);
  assert.ok(over.result, "the game has ended");
  const said = over.result.winner === null ? "Draw" : over.result.winner === 0 ? "You won" : "You lost";
  await eventually("the page says how", async () => (await headline(page)) === said || (await headline(page)));
  await eventually("it is read out", async () => (await announced(page)).includes(said));
  if (over.result.winner !== null) assert.ok((await page.locator("svg .line").count()) > 0, "the winning row is shown");
  assert.equal(await discs(page), over.moves.length);
  await screenshot(page, "game-over");

  await page.getByRole("button", { name: "Share" }).click();
  const record = await page.evaluate((href) => fetch(href).then((answer) => answer.json()), await page.getByRole("link", { name: "JSON" }).getAttribute("href"));
  await page.keyboard.press("Escape");
  assert.equal(record.moves.length, over.moves.length);

  await page.getByRole("button", { name: "Play again" }).click();
  await page.waitForURL((url) => !url.pathname.endsWith(over.id));
  await eventually("the other player starts the next game", async () => (await gameOf(page)).first === 1);
  await close();
});

test("undo and redo against the computer", async () => {
  const { page, close } = await browser.visit(server.base);
  await page.getByRole("button", { name: /^Play level/ }).click();
  await page.waitForURL(/\/game\//);
  for (const [turn, number] of [4, 3].entries()) {
    await yourTurn(page);
    await column(page, number).click();
    await eventually("two more moves", async () => (await moves(page)) === 2 * turn + 2 || (await moves(page)));
  }
  await yourTurn(page);
  const before = (await gameOf(page)).moves.map((move) => move.column);

  await page.getByRole("button", { name: "Undo" }).click();
  await eventually("the last two are back", async () => (await moves(page)) === 2 || (await moves(page)));
  await page.getByRole("button", { name: "Undo" }).click();
  await eventually("all are back", async () => (await discs(page)) === 0 || (await discs(page)));
  assert.equal(await page.getByRole("button", { name: "Undo" }).isDisabled(), true);

  await page.getByRole("button", { name: "Redo" }).click();
  await eventually("two are there again", async () => (await moves(page)) === 2 || (await moves(page)));
  await page.getByRole("button", { name: "Redo" }).click();
  await eventually("all are there again", async () => (await moves(page)) === 4 || (await moves(page)));
  assert.deepEqual((await gameOf(page)).moves.map((move) => move.column), before);
  await close();
});

test("every key", async () => {
  const { page, close } = await browser.visit(server.base);
  await page.getByRole("button", { name: /^Local game/ }).click();
  await page.waitForURL(/\/game\//);
  await page.locator(".board svg").first().waitFor();

  const counts = async (number, what) => eventually(what, async () => (await moves(page)) === number || (await moves(page)));
  await page.keyboard.press("4");
  await counts(1, "a digit drops");
  // Until the server has accepted a move there is no aim, and arrow keys step through the game.
  const taken = () => page.locator("[data-column].open").first().waitFor();
  const aimed = (column) =>
    eventually(`column ${column} is aimed at`, async () => {
      const focused = await page.evaluate(() => document.activeElement?.getAttribute("data-column"));
      return focused === column || focused;
    });
  await taken();
  await page.keyboard.press("ArrowRight");
  await aimed("4");
  await page.keyboard.press("ArrowRight");
  await aimed("5");
  await page.keyboard.press("Enter");
  await counts(2, "Enter drops");
  await taken();
  await page.keyboard.press("ArrowLeft");
  await aimed("4");
  await page.keyboard.press("Space");
  await counts(3, "Space drops");
  await taken();
  await page.keyboard.press("ArrowDown");
  await counts(4, "the arrow down drops");
  assert.deepEqual((await gameOf(page)).moves.map((move) => move.column), [4, 5, 4, 4]);

  await page.keyboard.press("u");
  await counts(3, "U takes back");
  await page.keyboard.press("r");
  await counts(4, "R plays again");

  await page.keyboard.press(",");
  await eventually("a step back", async () => (await discs(page)) === 3 || (await discs(page)));
  await page.keyboard.press("Home");
  await eventually("the first position", async () => (await discs(page)) === 0 || (await discs(page)));
  await page.keyboard.press(".");
  await eventually("a step forward", async () => (await discs(page)) === 1 || (await discs(page)));
  await page.keyboard.press("End");
  await eventually("the current position", async () => (await discs(page)) === 4 || (await discs(page)));

  // A hint in three steps, each announced: the area, the reason, the column.
  const heard = (text) => eventually(`${text} is read out`, async () => text.test(await announced(page)) || (await announced(page)));
  await page.keyboard.press("h");
  await heard(/^Look for a move (on the left|in the middle|on the right)\.$/);
  assert.equal(await page.locator("svg .hint").count(), 0, "the column is not given away yet");
  await screenshot(page, "hint-area");
  await page.getByRole("button", { name: "Why?" }).click();
  await heard(/draw|win|loses|search|Block/);
  await page.getByRole("button", { name: "Which column?" }).click();
  await heard(/^Play column [1-7]\.$/);
  await page.locator("svg .hint").waitFor();
  await screenshot(page, "hint");

  const left = async () => (await column(page, 1).boundingBox()).x;
  const unflipped = await left();
  await page.keyboard.press("f");
  await eventually("F flips", async () => (await left()) > unflipped);
  await page.keyboard.press("f");

  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("7");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  assert.equal(await moves(page), 4, "keys do nothing behind a dialog");

  await page.keyboard.press("n");
  await page.waitForURL(/\/new$/);
  await close();
});

test("a full column is refused, and the arrow keys step through a finished game", async () => {
  const { page, close } = await browser.visit(server.base);
  await page.getByRole("button", { name: /^Local game/ }).click();
  await page.waitForURL(/\/game\//);
  for (let turn = 1; turn <= 6; turn++) {
    await column(page, 1).click();
    await eventually("the disc is in", async () => (await moves(page)) === turn || (await moves(page)));
  }
  assert.equal(await column(page, 1).getAttribute("aria-disabled"), "true");
  await page.keyboard.press("1");
  await page.getByText("Column 1 is full").first().waitFor();
  assert.equal(await moves(page), 6);

  for (const [turn, number] of [2, 3, 2, 3, 2, 3, 2].entries()) {
    await column(page, number).click();
    await eventually("the disc is in", async () => (await moves(page)) === 7 + turn || (await moves(page)));
  }
  await eventually("red has won", async () => (await headline(page)) === "Red won" || (await headline(page)));
  await page.keyboard.press("ArrowLeft");
  await eventually("an arrow steps back", async () => (await discs(page)) === 12 || (await discs(page)));
  await page.keyboard.press("ArrowRight");
  await eventually("an arrow steps forward", async () => (await discs(page)) === 13 || (await discs(page)));
  await page.getByRole("button", { name: /^Move 3,/ }).click();
  await eventually("a click in the list goes there", async () => (await discs(page)) === 3 || (await discs(page)));
  await close();
});

test("an algorithm with its parameters, another board, most lines and a clock", async () => {
  const { page, close } = await browser.visit(`${server.base}/new`);
  await page.getByRole("radio", { name: "Custom engine" }).check();
  await page.getByRole("combobox", { name: "Engine" }).selectOption("alphabeta");
  await page.getByLabel("Depth").fill("999");
  await page.getByText("Must be at most 128.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Start game" }).isDisabled(), true);
  await page.getByLabel("Depth").fill("2");
  await page.getByLabel("Columns", { exact: true }).fill("12");
  await page.getByLabel("Rows", { exact: true }).fill("12");
  await page.getByText("12 × 12 is too large").waitFor();
  await page.getByLabel("Columns", { exact: true }).fill("5");
  await page.getByLabel("Rows", { exact: true }).fill("4");
  await page.getByLabel("Connect", { exact: true }).fill("3");
  await page.getByRole("radio", { name: "Most lines" }).check();
  await page.getByRole("radio", { name: "Yellow" }).check();
  await page.getByRole("radio", { name: "5 + 3" }).check();
  await screenshot(page, "new-game");
  await page.getByRole("button", { name: "Start game" }).click();
  await page.waitForURL(/\/game\//);
  await yourTurn(page);
  const game = await gameOf(page);
  assert.deepEqual(game.setup, { cols: 5, rows: 4, connect: 3, ruleset: "lines" });
  assert.equal(game.players[0].agent, "alphabeta:depth=2");
  assert.equal(game.first, 1);
  assert.deepEqual([game.clock.initial_ms, game.clock.increment_ms], [300_000, 3_000]);
  for (let turn = 0; turn < 10 && !(await gameOf(page)).result; turn++) {
    const now = await gameOf(page);
    await column(page, now.legal[0]).click();
    await eventually("the computer has answered", async () => {
      const next = await gameOf(page);
      return next.result !== null || next.moves.length >= now.moves.length + 2 || next.moves.length;
    });
  }
  const over = await gameOf(page);
  assert.equal(over.moves.length, 20, "play went on until the board was full");
  for (const score of over.scores) await page.getByText(score === 1 ? "1 line" : `${score} lines`, { exact: true }).first().waitFor();
  await screenshot(page, "most-lines");
  await close();
});

test("sound is on by default, and muting it is remembered", async () => {
  const { page, close } = await browser.visit(server.base);
  const mute = page.getByRole("button", { name: "Mute sound" });
  assert.equal(await mute.getAttribute("aria-pressed"), "false");
  await mute.click();
  assert.equal(await mute.getAttribute("aria-pressed"), "true");
  await page.reload();
  assert.equal(await mute.getAttribute("aria-pressed"), "true");
  await close();
});

test("two computers play each other, and one of them is replaced mid-game", async () => {
  const { page, close } = await browser.visit(`${server.base}/new?kind=watch`);
  await page.getByLabel("Red: player").selectOption("timed");
  await page.getByLabel("Time per move (ms)").fill("700");
  await page.getByRole("button", { name: "Watch", exact: true }).click();
  await page.waitForURL(/\/game\//);
  await page.getByText(/thinking… depth \d+/).first().waitFor();
  await screenshot(page, "watching");
  await page.getByLabel(/Change opponent \(currently Level/).selectOption("level:1");
  await eventually("another one plays", async () => (await gameOf(page)).players[1].agent === "level:1");
  await close();
});

test("resigning asks for confirmation, and running out of time loses the game", async () => {
  const { page, close } = await browser.visit(server.base);
  await page.getByRole("button", { name: /^Play level/ }).click();
  await page.waitForURL(/\/game\//);
  const resign = page.getByRole("button", { name: "Resign", exact: true });
  const sure = page.getByRole("button", { name: "Resign now?" });
  await resign.click();
  await sure.waitFor();
  // Resigning is cancelled by time, by a move and by a key.
  await resign.waitFor({ timeout: 6_000 });
  await resign.click();
  await column(page, 4).click();
  await resign.waitFor();
  await yourTurn(page);
  await resign.click();
  await page.keyboard.press("f");
  await resign.waitFor();
  assert.equal((await gameOf(page)).result, null);
  await resign.click();
  await sure.click();
  await eventually("the game is lost", async () => (await headline(page)) === "You lost" || (await headline(page)));

  await page.goto(`${server.base}/new`);
  await page.getByRole("radio", { name: "Custom", exact: true }).check();
  await page.getByLabel("Minutes per player").fill("0.05");
  await page.getByLabel("Increment (seconds)").fill("0");
  await page.getByRole("button", { name: "Start game" }).click();
  await page.waitForURL(/\/game\//);
  await eventually("the flag has fallen", async () => (await headline(page)) === "You lost" || (await headline(page)));
  assert.match(await page.locator(".detail").textContent(), /you ran out of time/);
  await close();
});
