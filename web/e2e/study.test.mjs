// The study pages: analysis board, game review, puzzles and statistics, against the real server.

import assert from "node:assert/strict";
import { after, before, column, DESKTOP, discs, eventually, localGame, resignedGame, startBrowser, startServer, test } from "./harness.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const ERRORS = [3, 6, 6, 4, 7, 4, 7, 3, 4, 1, 1, 5, 6, 2, 3, 4, 4, 2, 5, 5, 5];

const verdict = (page) => page.locator(".verdict .headline").textContent();
const is = (page, text) => eventually(`the verdict is ${text}`, async () => (await verdict(page)) === text || (await verdict(page)));

test("analysis: exact values, best play, variations, a link, and the keyboard alone", async () => {
  const { page, close } = await browser.visit(`${server.base}/analysis?pos=4455`);
  await is(page, "Red wins in 2");
  assert.equal(await page.locator("ul[aria-label='Value of each column'] li").nth(2).locator(".sr").textContent(), "Column 3: wins in 2, best");
  await page.getByText("Opening book").waitFor();

  // Step into the best line.
  await page.locator(".line button").nth(1).click();
  assert.equal(await discs(page), 6);
  await eventually("the address follows", async () => /pos=4455\d\d$/.test(page.url()) || page.url());

  // An alternative becomes a variation, which is named and deleted.
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

test("analysis: why a position is won, step by step, and what a wrong column allows", async () => {
  const { page, close } = await browser.visit(`${server.base}/analysis?pos=445`);
  await is(page, "Yellow wins in 19");
  // The explanation of a column: the move that gives the win away, then the better one.
  await page.locator("ul[aria-label='Value of each column'] button").first().click();
  const why = page.getByRole("region", { name: "Why?" });
  await why.getByText("Column 1 turns Yellow's win into a loss.").waitFor();
  await eventually("the move is on the board", async () => (await discs(page)) === 4 || (await discs(page)));
  await why.getByRole("button", { name: /^Show column [36]$/ }).click();
  await why.getByRole("heading", { name: /^Why\? Column [36]$/ }).waitFor();
  await why.getByRole("button", { name: "Close the explanation" }).click();
  await eventually("the position again", async () => (await discs(page)) === 3 || (await discs(page)));

  // A won position: the words, and the next step.
  await page.goto(`${server.base}/analysis?pos=4455`);
  await is(page, "Red wins in 2");
  await page.getByRole("button", { name: "Why?", exact: true }).click();
  await why.getByText(/^Red wins in 2 moves\./).waitFor();
  await why.getByRole("button", { name: "Step forward" }).click();
  await eventually("the next disc", async () => (await discs(page)) === 5 || (await discs(page)));
  await eventually("the reason is drawn", async () => (await page.locator(".drawing").count()) === 1);
  // With technical terms, also after a reload.
  const terms = why.getByRole("checkbox", { name: "Use technical terms" });
  await why.getByText("can block only one").waitFor();
  assert.equal(await why.getByText("double threat").count(), 0);
  await terms.check();
  await why.getByText("Red has a double threat in columns 2 and 6").waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Why?", exact: true }).click();
  await why.getByText("Red has a double threat in columns 2 and 6").waitFor();
  await terms.uncheck();
  await why.getByText("Red can connect four in columns 2 and 6").waitFor();
  // A move by the user ends the explanation.
  await why.getByRole("button", { name: "Close the explanation" }).click();
  await column(page, 3).click();
  await is(page, "Red wins in 1");
  assert.equal(await page.locator(".drawing").count(), 0);
  await close();
});

test("analysis: set up by clicking and by pasting, with error messages", async () => {
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
  await page.getByRole("button", { name: "Load position" }).click();
  await page.getByRole("alert").filter({ hasText: "'9'" }).waitFor();
  await paste.fill(".....\n.....\n..O..\n..XX.");
  await page.getByRole("button", { name: "Load position" }).click();
  await eventually("the board has five columns", async () => (await page.locator("[data-column]").count()) === 5);
  await eventually("three discs", async () => (await discs(page)) === 3);
  await page.getByRole("button", { name: "Set up" }).click();
  await paste.fill(JSON.stringify({ board: [...new Array(18).fill(0), 1, 2] }));
  await page.getByRole("button", { name: "Load position" }).click();
  await eventually("two discs", async () => (await discs(page)) === 2);
  await close();
});

test("analysis: copying and images", async () => {
  const { page, context, close } = await browser.visit(`${server.base}/analysis?pos=4453`);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await is(page, "Yellow wins in 18");
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
  await close();
});

test("analysis: a board that is too large to solve shows what is certain, and estimates as opinions", async () => {
  const { page, close } = await browser.visit(`${server.base}/analysis?pos=55&cols=9&rows=7&connect=5`);
  const opinion = page.getByText(/^Column \d looks best \(search depth \d+\)$/);
  await opinion.waitFor();
  await page.getByText(/^Certain: Red does not lose within \d+ moves?\.$/).waitFor();
  const values = page.locator("ul[aria-label='Value of each column'] li");
  const texts = await values.allInnerTexts();
  assert.ok(texts.every((text) => !/\+\d|\?/.test(text)), `no points and no riddles: ${texts}`);
  await eventually("the longer look is over", async () => (await page.getByText("Looking deeper…").count()) === 0);
  // Play the move that looks best; the next position is analysed.
  const best = /Column (\d)/.exec(await opinion.textContent())[1];
  await column(page, Number(best)).click();
  await page.getByText(/^Certain: Yellow does not lose within/).waitFor();
  assert.equal(await discs(page), 3);

  // Values are margins in lines, and a finished game has a result.
  await page.goto(`${server.base}/analysis?pos=1234&cols=4&rows=3&connect=3&ruleset=lines`);
  await eventually("the verdict is in lines", async () => /^((Red|Yellow) wins by \d+ lines?|Draw)$/.test(await verdict(page)) || (await verdict(page)));
  for (let left = 8; left > 0; left--) {
    await page.locator(".line button").first().click();
    await eventually("the move is on the board", async () => (await discs(page)) === 13 - left);
    if (left > 1) await page.locator(".line button").nth(left - 2).waitFor();
  }
  await eventually("the result", async () => /^((Red|Yellow) has won|The game is drawn), \d to \d$/.test(await verdict(page)) || (await verdict(page)));
  await close();
});

test("analysis: links and move lists from other solvers, the side to move, and threats that share a cell", async () => {
  const { page, close } = await browser.visit(`${server.base}/analysis`);
  const paste = async (text, expected) => {
    await page.getByRole("button", { name: "Set up" }).click();
    await page.getByLabel("Paste a position").fill(text);
    await page.getByRole("button", { name: "Load position" }).click();
    await eventually(`${text} is on the board`, async () => page.url().endsWith(`/analysis?pos=${expected}`) || page.url());
  };
  await paste("https://connect4.gamesolver.org/?pos=4453", "4453");
  await paste("3 3 4 2 0", "44531");
  await paste("[4, 4, 5, 5]", "4455");
  await is(page, "Red wins in 2");
  const line = page.locator(".line button");
  await eventually("the players take turns", async () => JSON.stringify(await line.evaluateAll((all) => all.map((one) => one.dataset.player))) === '["0","1","0"]' || (await line.count()));
  await line.last().click();
  await is(page, "Red has won");

  await page.goto(`${server.base}/analysis?pos=152637`);
  await page.getByLabel("Show threats on the board").check();
  await eventually("both threats are marked", async () => (await page.locator("g.mark").count()) === 2);
  const boxes = await page.locator("g.mark circle, g.mark path, g.mark text").evaluateAll((all) => all.map((one) => { const { left, right, top, bottom } = one.getBoundingClientRect(); return { left, right, top, bottom }; }));
  assert.equal(boxes.length, 3, "two shapes and one text");
  for (const [index, a] of boxes.entries()) {
    for (const b of boxes.slice(index + 1)) {
      const apart = a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 3 || b.bottom <= a.top + 3;
      assert.ok(apart, `marks overprint: ${JSON.stringify([a, b])}`);
    }
  }
  await column(page, 4).click();
  await is(page, "Red has won");
  await close();
});

test("a finished game is reviewed, and its mistakes become exercises", async () => {
  const { page, close } = await browser.visit(server.base);
  const id = await localGame(page, server.base, ERRORS);
  await page.goto(`${server.base}/game/${id}`);
  await page.getByRole("link", { name: "Review" }).click();
  await page.getByRole("heading", { name: /^Review:/ }).waitFor();
  // On a busy machine the moves that are hard to judge follow later.
  await eventually("all moves are judged", async () => (await page.getByText(/moves are judged so far/).count()) === 0);
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

  // A mistake is explained automatically, on the board and in words; the explanation ends with the next move.
  const mistake = review.moves.findIndex((move) => ["mistake", "blunder"].includes(move.judgement)) + 1;
  await page.locator(`[data-ply='${mistake}']`).click();
  const why = page.getByRole("region", { name: "Why?" });
  await why.getByText(`Column ${review.moves[mistake - 1].column}`).first().waitFor();
  await why.getByText(/(turns|gives) .*(loss|draw)/).waitFor();
  assert.equal(await discs(page), mistake);
  await page.locator(".picks button").first().click();
  await eventually("no explanation of the empty board", async () => (await why.count()) === 0);
  // What decided the game, with a link to that moment.
  assert.ok(review.turning_point, "the game was decided by a mistake");
  await page.getByText(new RegExp(`until move ${review.turning_point.ply}, column`)).waitFor();
  await page.getByRole("button", { name: "Show the moment" }).click();
  await eventually("the moment", async () => (await discs(page)) === review.turning_point.ply || (await discs(page)));

  // The same playback controls as everywhere.
  await page.locator(".picks button").first().click();
  await page.getByLabel("Speed").selectOption("fast");
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await eventually("moves are played", async () => (await discs(page)) >= 3 || (await discs(page)));
  await page.getByRole("button", { name: "Pause" }).click();
  const paused = await discs(page);
  await page.locator(".playback").getByRole("button").nth(3).click();
  await eventually("a step further", async () => (await discs(page)) === paused + 1);

  // The fastest loss comes first.
  await page.getByText(`You missed ${errors.length} better moves. Find them.`).waitFor();
  await page.getByRole("button", { name: "Learn from your mistakes" }).click();
  const plies = ({ played, best }) => (played.value.kind === "loss" ? played.value.number : best.value.number);
  const order = review.moves.map((move, index) => ({ move, index })).filter(({ move }) => ["mistake", "blunder"].includes(move.judgement)).sort((a, b) => plies(a.move) - plies(b.move) || a.index - b.index);
  const first = order[0].index;
  const { best, column: wrong } = review.moves[first];
  await eventually("the position before the error", async () => (await discs(page)) === first);
  await column(page, wrong).click();
  await page.getByText(`Column ${wrong}`).filter({ hasText: "Try again" }).waitFor();
  await eventually("the try is taken back", async () => (await discs(page)) === first);
  await page.getByRole("button", { name: "Hint" }).click();
  await page.getByText(/The best move/).waitFor();
  assert.equal(await page.locator(".words .button.main").count(), 0, "nothing is loud before the move is found");
  await page.getByRole("button", { name: "Why was it wrong?" }).click();
  await eventually("the refutation is played", async () => (await discs(page)) >= first + 2 || (await discs(page)));
  const refutation = page.getByRole("region", { name: `Why column ${wrong} was wrong` });
  await refutation.getByRole("button", { name: /^(First|Start)/ }).click();
  await eventually("back to its start", async () => (await discs(page)) === first);
  await page.keyboard.press(".");
  await eventually("stepped by key", async () => (await discs(page)) === first + 1);
  await page.getByRole("button", { name: "Back to the position" }).click();
  await eventually("the position before the error again", async () => (await discs(page)) === first);
  await page.keyboard.press(String(best.column));
  await page.getByText(/^Correct!/).waitFor();
  await page.getByRole("link", { name: "See it on the board" }).waitFor();
  const next = page.locator(".words .button.main");
  await next.filter({ hasText: /Next position|Back to the review/ }).click();
  if (order.length > 1) await eventually("the next position", async () => (await discs(page)) === order[1].index);
  await page.getByRole("button", { name: "Back to the review" }).first().click();
  await page.getByRole("heading", { name: /^Review:/ }).waitFor();
  await close();
});

test("a review of a large board judges only the moves that could be solved", async () => {
  const { page, close } = await browser.visit(server.base);
  const id = await localGame(page, server.base, [5, 1, 4, 1, 6, 1, 3, 1, 9, 1], { cols: 9, rows: 7, connect: 5 });
  await page.goto(`${server.base}/game/${id}/review`);
  await page.getByRole("heading", { name: /^Review:/ }).waitFor();
  await page.getByText(/^\d of 10 moves could be judged \(\d+%\)/).waitFor();
  await page.getByText("Judged moves").waitFor();
  assert.equal(await page.getByText(/Well played/).count(), 0);
  await page.locator("[data-ply='1']").click();
  await page.getByText(/Not solved\.\s+Column \d looked best \(search depth \d+\)\./).waitFor();
  // The end is solved: Red could have won at once, and let Yellow win instead.
  await page.getByRole("button", { name: "Learn from your mistakes" }).click();
  await page.getByText("Find the move.").waitFor();
  await page.getByRole("button", { name: "Show the move" }).click();
  await page.getByRole("button", { name: "Back to the position" }).click();
  await page.getByRole("button", { name: "Back to the review" }).first().click();
  await page.getByRole("heading", { name: /^Review:/ }).waitFor();

  // In the ruleset `lines`, values are margins, and the end of the game is its result.
  const lines = await localGame(page, server.base, [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4], { cols: 4, rows: 3, connect: 3, ruleset: "lines" });
  await page.goto(`${server.base}/game/${lines}/review`);
  await page.getByRole("heading", { name: /^Review:/ }).waitFor();
  const said = page.locator(".said");
  assert.doesNotMatch(await said.textContent(), /wins in/);
  await page.locator("[data-ply='5']").click();
  await eventually("in lines", async () => /(wins|loses) by \d+ lines?|[Dd]raw/.test(await said.textContent()) || (await said.textContent()));
  assert.doesNotMatch(await said.textContent(), /wins in/);
  await close();
});

/** Asks the server for the best move of a position. */
const bestMove = (page, moves) =>
  page.evaluate(
    (moves) =>
      fetch("/api/analysis", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ position: { moves }, thorough: true }) })
        .then((answer) => answer.json())
        .then((result) => result.best[0]),
    moves,
  );

test("puzzles: easiest first, played out to the win, stored, filtered by theme", async () => {
  const { page, close } = await browser.visit(`${server.base}/puzzles`);
  const { puzzles, daily } = await page.evaluate(() => fetch("/api/puzzles").then((answer) => answer.json()));
  const easiest = puzzles.find((puzzle) => puzzle.grade === 1 && puzzle.discs === 1);
  await eventually("the easiest puzzle", async () => (await discs(page)) === easiest.moves.length);
  await page.getByText(/to move and win$/).waitFor();
  assert.equal(await page.locator(".words .button.main").count(), 0, "nothing is loud before it is solved");
  await column(page, easiest.column).click();
  await page.getByText("Solved! Four in a row.").waitFor();
  await page.getByText("has connected four.").waitFor();
  await eventually("the try is counted", async () => {
    const { puzzles } = await page.evaluate(() => fetch("/api/puzzles").then((answer) => answer.json()));
    return puzzles.find(({ moves }) => moves === easiest.moves).solved === 1;
  });
  const next = page.locator(".words .button.main");
  await next.filter({ hasText: "Next puzzle" }).click();

  // A longer puzzle is played out against the best defence.
  await page.getByLabel("Theme").selectOption("double-threat");
  const double = puzzles.filter((puzzle) => puzzle.themes.includes("double-threat")).sort((a, b) => a.grade - b.grade || a.discs - b.discs)[0];
  await eventually("a puzzle of the theme", async () => (await discs(page)) === double.moves.length);
  const full = (number) => [...double.moves].filter((letter) => Number(letter) === number).length === 6;
  const wrong = [1, 2, 3, 4, 5, 6, 7].find((number) => number !== double.column && !full(number));
  await column(page, wrong).click();
  await page.getByText(/Try again/).waitFor();
  await eventually("the try is taken back", async () => (await discs(page)) === double.moves.length);
  let line = double.moves;
  for (let move = 1; move <= double.discs; move++) {
    const best = await bestMove(page, line);
    await page.keyboard.press(String(best));
    line += best;
    if (move === double.discs) break;
    await eventually("the defence has answered", async () => (await discs(page)) === line.length + 1);
    const answer = await page.evaluate((moves) => fetch("/api/analysis", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ position: { moves }, thorough: true }) }).then((reply) => reply.json()).then((result) => result.pv[0]), line);
    line += answer;
  }
  await page.getByText("Solved! Four in a row.").waitFor();
  await page.getByText("You have solved this puzzle.").waitFor();
  await page.locator(".tag", { hasText: "Double threat" }).waitFor();
  await page.getByText(/^1 of \d+ solved/).waitFor();

  // Progress is stored, and the daily puzzle is one click away.
  await page.reload();
  await page.getByText(/^2 of \d+ solved/).waitFor();
  await page.getByRole("button", { name: "Today's puzzle" }).click();
  await page.getByText(/^Today's puzzle/).waitFor();
  await eventually("the puzzle of the day", async () => (await discs(page)) === puzzles[daily].moves.length);
  await page.getByRole("button", { name: "Show the move" }).click();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Back to the position" }).click();
  await eventually("the position again", async () => (await discs(page)) === puzzles[daily].moves.length);
  await page.getByRole("radio", { name: "Expert" }).check();
  await page.locator(".tag", { hasText: "Expert" }).waitFor();
  await close();
});

test("statistics: the visitor's own and everyone's, and the explorer", async () => {
  const { page, close } = await browser.visit(`${server.base}/statistics`);
  await page.getByText("No finished games yet").waitFor();
  for (let number = 0; number < 3; number++) await resignedGame(page, server.base, 2, 3);
  await page.goto(`${server.base}/statistics`);
  await page.getByText("3 games", { exact: true }).waitFor();
  await page.getByRole("rowheader", { name: "Level 2" }).waitFor();
  await page.getByRole("img", { name: /Score, last 10 games: 0%/ }).waitFor();
  const move = page.locator(".explorer tbody tr").first();
  await move.filter({ hasText: "3" }).getByRole("button").click();
  await eventually("a move further", async () => (await discs(page)) === 1);
  await page.getByRole("radio", { name: "All games" }).check();
  await page.getByRole("heading", { name: "By player" }).waitFor();
  await page.getByText("Score moving first").waitFor();
  const edges = await page.locator("table.aligned").evaluateAll((all) => all.map((table) => [...table.querySelectorAll("thead th")].map((cell) => Math.round(cell.getBoundingClientRect().right)).join()));
  assert.ok(edges.length > 2 && new Set(edges).size === 1, `columns of all tables stand below each other: ${edges.join(" | ")}`);
  await close();
});

test("statistics: what costs games, with the lesson and the puzzles about it", async () => {
  const { page, close } = await browser.visit(server.base);
  const id = await localGame(page, server.base, ERRORS);
  assert.ok(id);
  // Nobody has lost enough games here, so the server's response is replaced by one with losses.
  await page.route("**/api/statistics?mine=true", async (route) => {
    const answer = await route.fetch();
    const statistics = await answer.json();
    const game = (number, theme) => ({ id: `g${number}`, created: number, points: theme ? 0 : 1, accuracy: 0.5, theme });
    const themes = [null, "double-threat", "odd-threat", "double-threat", "opens-four"];
    await route.fulfill({ response: answer, json: { ...statistics, games: 5, progress: themes.map((theme, index) => game(index, theme)) } });
  });
  await page.goto(`${server.base}/statistics`);
  const costs = page.locator("figure", { hasText: "What costs you games" });
  await costs.getByText("in 4 of your last 5 games").waitFor();
  assert.deepEqual(await costs.locator("li b").allInnerTexts(), ["Double threat", "Zugzwang: odd threat", "Playing below a threat"]);
  await costs.locator("li").first().getByRole("link", { name: "Puzzles" }).click();
  await page.getByRole("heading", { name: "Puzzles", level: 1 }).waitFor();
  await eventually("the theme is chosen", async () => (await page.getByLabel("Theme").inputValue()) === "double-threat");
  await eventually("a puzzle of the theme", async () => (await discs(page)) > 0);
  await page.goBack();
  await costs.locator("li").first().getByRole("link", { name: "Lesson" }).click();
  await page.getByRole("heading", { name: "Two threats at once", level: 1 }).waitFor();
  await close();
});
