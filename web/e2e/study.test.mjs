// The study room: analysis board, game review, puzzles and statistics, against the real server.

import assert from "node:assert/strict";
import { after, before, checkAccess, checkWidth, column, DESKTOP, discs, eventually, HUGE, PHONE, screenshot, startBrowser, startServer, TINY, test } from "./harness.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

/** A finished game by the API of the visitor's own page. */
async function playedGame(page, columns, changes = {}) {
  return page.evaluate(
    async ({ columns, changes }) => {
      const post = (path, body) =>
        fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }).then((answer) => answer.json());
      const game = await post("/api/games", { seats: [{ kind: "human" }, { kind: "human" }], first: 0, ...changes });
      for (const [ply, column] of columns.entries()) await post(`/api/games/${game.id}/moves`, { column, ply });
      return game.id;
    },
    { columns, changes },
  );
}

const ERRORS = [3, 6, 6, 4, 7, 4, 7, 3, 4, 1, 1, 5, 6, 2, 3, 4, 4, 2, 5, 5, 5];

const verdict = (page) => page.locator(".verdict .headline").textContent();
const is = (page, text) => eventually(`the verdict is ${text}`, async () => (await verdict(page)) === text || (await verdict(page)));

for (const [size, options] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
  for (const colorScheme of ["light", "dark"]) {
    test(`axe and the width of the study pages, ${size}, ${colorScheme}`, async () => {
      const { page, close } = await browser.visit(server.base, { ...options, colorScheme });
      const id = await playedGame(page, ERRORS);
      await page.evaluate(async () => {
        const post = (path, body) =>
          fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }).then((answer) => answer.json());
        for (const agent of ["level:1", "level:3", "random"]) {
          const game = await post("/api/games", { seats: [{ kind: "human" }, { kind: "agent", agent }], first: 0 });
          await post(`/api/games/${game.id}/moves`, { column: 4, ply: 0 });
          await post(`/api/games/${game.id}/resign`, {});
        }
      });
      const look = async (name) => {
        await checkAccess(page, name);
        await checkWidth(page, name);
        await page.evaluate(() => scrollTo(0, 0));
        await screenshot(page, `${name}-${size}-${colorScheme}`);
      };
      await page.goto(`${server.base}/analysis?pos=147444324451355337366636`);
      await eventually("the values are there", async () => (await page.locator("ul[aria-label='What each column is worth'] li.win, ul[aria-label='What each column is worth'] li.loss, ul[aria-label='What each column is worth'] li.draw").count()) > 0);
      await page.getByLabel("Show threats on the board").check();
      await page.getByLabel("The bare network").check();
      await page.getByLabel("Alpha-beta, 8 plies").check();
      await eventually("both have spoken", async () => (await page.locator("article ul").count()) === 2);
      await look("analysis");
      await page.locator("article").last().scrollIntoViewIfNeeded();
      await screenshot(page, `analysis-opinions-${size}-${colorScheme}`);
      await page.getByRole("button", { name: "Set up" }).click();
      await look("analysis-setup");

      await page.goto(`${server.base}/game/${id}/review`);
      await page.getByRole("heading", { name: /^Review:/ }).waitFor();
      await look("review");
      await page.getByRole("button", { name: "Learn from the mistakes" }).click();
      await page.getByText("Find the move.").waitFor();
      await look("review-learn");

      await page.goto(`${server.base}/puzzles`);
      await page.getByRole("button", { name: "Next puzzle" }).waitFor();
      await look("puzzles");

      await page.goto(`${server.base}/statistics`);
      await page.getByRole("heading", { name: "Opening explorer" }).waitFor();
      await page.waitForLoadState("networkidle");
      await look("statistics");
      await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
      await screenshot(page, `statistics-end-${size}-${colorScheme}`);
      if (size === "phone") {
        await page.evaluate(() => scrollTo(0, 0));
        await page.getByRole("button", { name: "More pages" }).click();
        await look("menu");
        await page.getByRole("link", { name: "Analysis", exact: true }).click();
        await page.waitForURL(/\/analysis/);
        assert.equal(await page.locator("#menu").isVisible(), false, "the menu is out of the way");
      }
      await close();
    });
  }
}

for (const [size, options] of Object.entries({ 320: TINY, "4k": HUGE })) {
  test(`the study pages fit ${size}`, async () => {
    const { page, close } = await browser.visit(server.base, options);
    const id = await playedGame(page, ERRORS);
    for (const [name, path] of Object.entries({ analysis: "/analysis?pos=4444", wide: "/analysis?cols=20&rows=4", review: `/game/${id}/review`, puzzles: "/puzzles", statistics: "/statistics" })) {
      await page.goto(server.base + path);
      await page.waitForLoadState("networkidle");
      await checkWidth(page, name);
      await screenshot(page, `${name}-${size}`);
    }
    await close();
  });
}

test("analysis: exact values, best play, variations, a link, and the keyboard alone", async () => {
  const { page, close } = await browser.visit(`${server.base}/analysis?pos=4455`);
  await is(page, "Red wins in 2");
  assert.equal(await page.locator("ul[aria-label='What each column is worth'] li").nth(2).locator(".sr").textContent(), "Column 3: wins in 2, best");
  await page.getByText("Opening book").waitFor();

  // Best play is stepped into.
  await page.locator(".line button").nth(1).click();
  assert.equal(await discs(page), 6);
  await eventually("the address follows", async () => /pos=4455\d\d$/.test(page.url()) || page.url());

  // Another move is a variation, which gets a name and goes again.
  await page.keyboard.press("Home");
  await page.keyboard.press("4");
  await eventually("one disc", async () => (await discs(page)) === 1);
  await page.keyboard.press("3");
  await page.locator(".variation .move").waitFor();
  await page.getByRole("button", { name: "Name this line" }).click();
  await page.getByPlaceholder("Name of the line").fill("the left");
  await page.getByRole("button", { name: "Done" }).click();
  await page.locator(".variation .name", { hasText: "the left" }).waitFor();
  await page.getByRole("button", { name: "Delete from here" }).click();
  await eventually("the variation is gone", async () => (await page.locator(".variation").count()) === 0);

  // A line that ends the game.
  await page.goto(`${server.base}/analysis?pos=445533`);
  await is(page, "Red wins in 1");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await is(page, "Red has won");
  assert.ok((await page.locator(".frame .line").count()) > 0, "the line is drawn");
  await page.reload();
  await is(page, "Red has won");
  await close();
});

test("analysis: set up by clicking and by pasting; what is wrong is said", async () => {
  const { page, close } = await browser.visit(`${server.base}/analysis`, DESKTOP, { mayFail: /400/ });
  await is(page, "Red wins in 21");
  await page.getByRole("button", { name: "Set up" }).click();
  for (const number of [1, 2, 1, 2, 1]) await column(page, number).click();
  await page.getByText("Red 3, Yellow 2. Yellow to move").waitFor();
  await page.getByRole("radio", { name: "Remove" }).check();
  await column(page, 2).click();
  await page.getByText(/Red moves first, so it needs/).waitFor();
  assert.equal(await page.getByRole("button", { name: "Analyse this position" }).isDisabled(), true);
  await page.getByRole("radio", { name: "Yellow" }).check();
  await column(page, 2).click();
  await page.getByRole("button", { name: "Analyse this position" }).click();
  await eventually("the address has the board", async () => page.url().includes("board=") || page.url());
  assert.equal(await discs(page), 5);
  await page.getByText("Yellow to move").waitFor();
  await column(page, 1).click();
  await eventually("yellow has blocked", async () => (await discs(page)) === 6);

  await page.getByRole("button", { name: "Set up" }).click();
  const paste = page.getByLabel("Paste a position");
  await paste.fill("4459");
  await page.getByRole("button", { name: "Read it" }).click();
  await page.getByRole("alert").filter({ hasText: "'9'" }).waitFor();
  await paste.fill(".....\n.....\n..O..\n..XX.");
  await page.getByRole("button", { name: "Read it" }).click();
  await eventually("the board has five columns", async () => (await page.locator("[data-column]").count()) === 5);
  await eventually("three discs", async () => (await discs(page)) === 3);
  await page.getByRole("button", { name: "Set up" }).click();
  await paste.fill(JSON.stringify({ board: [...new Array(18).fill(0), 1, 2] }));
  await page.getByRole("button", { name: "Read it" }).click();
  await eventually("two discs", async () => (await discs(page)) === 2);
  await close();
});

test("analysis: copies, pictures and bounds on a board that is too large", async () => {
  const { page, context, close } = await browser.visit(`${server.base}/analysis?pos=4453`);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await is(page, await verdict(page));
  await page.getByRole("button", { name: "Copy and share" }).click();
  await page.getByRole("button", { name: "Moves", exact: true }).click();
  await page.locator("dialog[open]").getByText("Copied").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "4453");
  for (const [kind, start] of [["SVG", "<svg"], ["PNG", "\x89PNG"]]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: `Image (${kind})` }).click()]);
    const chunks = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk);
    assert.ok(Buffer.concat(chunks).toString("latin1").startsWith(start), kind);
  }
  await page.goto(`${server.base}/analysis?cols=11&rows=9`);
  await page.getByText(/too large to be solved/).waitFor();
  await is(page, "Not solved");
  await close();
});

test("a finished game is reviewed, and its mistakes are learnt from", async () => {
  const { page, close } = await browser.visit(server.base);
  const id = await playedGame(page, ERRORS);
  await page.goto(`${server.base}/game/${id}`);
  await page.getByRole("link", { name: "Review" }).click();
  await page.getByRole("heading", { name: /^Review:/ }).waitFor();
  const review = await page.evaluate((id) => fetch(`/api/games/${id}/review`).then((answer) => answer.json()), id);
  const errors = review.moves.filter((move) => ["mistake", "blunder"].includes(move.judgement));
  assert.ok(errors.length > 0, "the game has errors to learn from");
  assert.equal(await page.locator(".plot .sign").count(), errors.length);
  assert.equal(await page.locator("[data-ply]").count(), ERRORS.length);

  await page.locator("[data-ply='3']").click();
  assert.equal(await discs(page), 3);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await discs(page), 2);
  await page.locator(".picks button").nth(5).click();
  assert.equal(await discs(page), 5);

  await page.getByRole("button", { name: "Learn from the mistakes" }).click();
  const first = review.moves.findIndex((move) => ["mistake", "blunder"].includes(move.judgement));
  const { best, column: wrong } = review.moves[first];
  await eventually("the position before the error", async () => (await discs(page)) === first);
  await column(page, wrong).click();
  await page.getByText(`Column ${wrong}`).filter({ hasText: "Try again" }).waitFor();
  await eventually("the try is taken back", async () => (await discs(page)) === first);
  await page.getByRole("button", { name: "Hint" }).click();
  await page.getByText(/The best move/).waitFor();
  await page.getByRole("button", { name: "Why was it wrong?" }).click();
  await eventually("the refutation is played out", async () => (await discs(page)) >= first + 2 || (await discs(page)));
  await page.getByRole("button", { name: "Try again" }).click();
  await eventually("the position before the error again", async () => (await discs(page)) === first);
  await page.keyboard.press(String(best.column));
  await page.getByText("Right!").waitFor();
  await page.getByRole("button", { name: /Next|Back to the review/ }).first().click();
  await close();
});

test("puzzles: tried, solved, kept; one a day", async () => {
  const { page, close } = await browser.visit(`${server.base}/puzzles`);
  const { puzzles, daily } = await page.evaluate(() => fetch("/api/puzzles").then((answer) => answer.json()));
  await page.getByText(/^Today's puzzle/).waitFor();
  const today = puzzles[daily];
  await eventually("the puzzle of the day", async () => (await discs(page)) === today.moves.length);
  const full = (number) => [...today.moves].filter((letter) => Number(letter) === number).length === 6;
  const wrong = [1, 2, 3, 4, 5, 6, 7].find((number) => number !== today.column && !full(number));
  await column(page, wrong).click();
  await page.getByText(/Try again/).waitFor();
  await eventually("the try is taken back", async () => (await discs(page)) === today.moves.length);
  await page.keyboard.press(String(today.column));
  await page.getByText("Solved!").waitFor();
  await page.getByText("You have solved this one.").waitFor();
  await page.getByRole("button", { name: "How it goes on" }).click();
  await eventually("the line is played", async () => (await discs(page)) > today.moves.length + 1);
  await page.reload();
  await page.getByText("You have solved this one.").waitFor();
  await page.getByRole("radio", { name: "Fiendish" }).check();
  const hard = puzzles.find((puzzle) => puzzle.grade === 5 && puzzle.moves !== today.moves);
  await eventually("a hard one", async () => (await discs(page)) === hard.moves.length || today.grade === 5);
  await close();
});

test("statistics: one's own and everyone's, and the explorer", async () => {
  const { page, close } = await browser.visit(`${server.base}/statistics`);
  await page.getByText("No finished games yet").waitFor();
  await page.evaluate(async () => {
    const post = (path, body) =>
      fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }).then((answer) => answer.json());
    for (let number = 0; number < 3; number++) {
      const game = await post("/api/games", { seats: [{ kind: "human" }, { kind: "agent", agent: "level:2" }], first: 0 });
      await post(`/api/games/${game.id}/moves`, { column: 3, ply: 0 });
      await post(`/api/games/${game.id}/resign`, {});
    }
  });
  await page.reload();
  await page.getByText("3 games", { exact: true }).waitFor();
  await page.getByRole("rowheader", { name: "Level 2" }).waitFor();
  await page.getByRole("img", { name: /Score, last 10 games: 0 %/ }).waitFor();
  const move = page.locator(".explorer tbody tr").first();
  await move.filter({ hasText: "3" }).getByRole("button").click();
  await eventually("a move further", async () => (await discs(page)) === 1);
  await page.getByRole("radio", { name: "Everyone's" }).check();
  await page.getByRole("heading", { name: "By player" }).waitFor();
  await close();
});
