// Two people on two screens, one of whom loses the connection.

import assert from "node:assert/strict";
import { after, announced, before, checkAccess, column, DESKTOP, discs, eventually, gameOf, headline, moves, PHONE, screenshot, startBrowser, startProxy, startServer, test } from "./harness.mjs";

let server, browser, proxy;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  proxy = await startProxy(server.port);
});
after(async () => {
  await browser?.stop();
  proxy?.stop();
  await server?.stop();
});

const offline = /WebSocket|ERR_|Failed to load resource/;

test("two people play through a dropped connection, with a third watching", async () => {
  const ada = await browser.visit(server.base, DESKTOP);
  await ada.page.getByRole("button", { name: "Invite a friend" }).click();
  // The name is asked for once.
  await ada.page.getByRole("dialog").getByLabel("Your name").fill("Ada");
  await ada.page.keyboard.press("Enter");
  await ada.page.waitForURL(/\/game\//);
  await ada.page.getByRole("img", { name: "QR code of the invitation link" }).waitFor();
  const link = await ada.page.getByRole("textbox", { name: "Invitation link" }).inputValue();
  assert.equal(link, ada.page.url());
  await checkAccess(ada.page, "the invitation");
  await screenshot(ada.page, "invite");

  // The friend connects through the proxy that will be cut.
  const ben = await browser.visit(link.replace(server.base, proxy.base), PHONE, { mayFail: offline });
  await screenshot(ben.page, "invited-phone");
  await ben.page.getByRole("heading", { name: /^Ada invites you/ }).waitFor();
  await ben.page.getByLabel("Your name").fill("Ben");
  await ben.page.getByRole("button", { name: /^Play (Red|Yellow)$/ }).click();
  await eventually("the game is on for both", async () => (await gameOf(ada.page)).status === "playing" && (await gameOf(ben.page)).status === "playing");
  await ada.page.getByText("Ben").first().waitFor();
  await eventually("the arrival is read out", async () => /Ben has joined/.test(await announced(ada.page)) || (await announced(ada.page)));

  const watcher = await browser.visit(link);
  await watcher.page.locator(".board svg").first().waitFor();
  await ada.page.getByText("1 watching").waitFor({ state: "attached" });
  assert.equal(await watcher.page.getByRole("button", { name: "Resign" }).count(), 0);

  const sides = async () => {
    const game = await gameOf(ada.page);
    return game.players[game.to_move].you ? [ada.page, ben.page] : [ben.page, ada.page];
  };
  const play = async (number) => {
    const [mover] = await sides();
    const before = (await gameOf(ada.page)).moves.length;
    await eventually("the turn has come", async () => (await headline(mover)) === "Your turn" || (await headline(mover)));
    await column(mover, number).click();
    for (const page of [ada.page, ben.page, watcher.page]) {
      await eventually("everyone sees the move", async () => (await moves(page)) === before + 1 || (await moves(page)));
    }
  };
  await play(4);
  await play(4);
  // A player cannot move for the other.
  const [, waiting] = await sides();
  await column(waiting, 1).click({ force: true });
  assert.equal((await gameOf(ada.page)).moves.length, 2);

  // Make it Ben's turn, so that his next move happens while he is disconnected.
  if ((await sides())[0] === ada.page) await play(3);
  const count = (await gameOf(ada.page)).moves.length;
  proxy.cut();
  await ben.page.locator(".offline").waitFor();
  await ada.page.getByText(/disconnected, \d:\d\d to reconnect/).waitFor();
  await screenshot(ada.page, "opponent-away");
  await screenshot(ben.page, "offline-phone");
  await column(ben.page, 5).click();
  assert.equal(await discs(ben.page), count + 1, "the disc falls at once");
  assert.equal((await gameOf(ada.page)).moves.length, count);
  proxy.mend();
  await eventually("the move has arrived after all", async () => (await gameOf(ada.page)).moves.length === count + 1);
  await ben.page.locator(".offline").waitFor({ state: "hidden" });
  await ada.page.getByText(/disconnected, \d:\d\d to reconnect/).waitFor({ state: "hidden" });
  await eventually("Ada sees it", async () => (await moves(ada.page)) === count + 1 || (await moves(ada.page)));

  // A takeback by agreement, a declined draw, and an accepted one.
  await ben.page.getByRole("button", { name: "Request takeback" }).click();
  await ben.page.getByText("Takeback requested.").first().waitFor();
  await ada.page.getByText("Ben requests a takeback.").first().waitFor();
  await eventually("the request is read out", async () => (await announced(ada.page)) === "Ben requests a takeback." || (await announced(ada.page)));
  await ada.page.getByRole("button", { name: "Accept" }).click();
  await ben.page.getByText("Takeback accepted.").first().waitFor();
  await eventually("the move is back", async () => (await moves(ben.page)) === count || (await moves(ben.page)));
  await ada.page.getByRole("button", { name: "Offer a draw" }).click();
  await ada.page.getByText("Draw offered.").first().waitFor();
  await ben.page.getByText(/offers a draw/).first().waitFor();
  await screenshot(ben.page, "draw-offered-phone");
  await ben.page.getByRole("button", { name: "Decline" }).click();
  await ada.page.getByText("Ben declined the draw.").first().waitFor();
  await ben.page.getByText("Draw declined.").first().waitFor();
  await ben.page.getByRole("button", { name: "Offer a draw" }).click();
  await ada.page.getByRole("button", { name: "Accept" }).click();
  for (const page of [ada.page, ben.page, watcher.page]) {
    await eventually("it is a draw", async () => (await headline(page)) === "Draw" || (await headline(page)));
  }

  // A rematch needs both players.
  const first = ada.page.url();
  await ada.page.getByRole("button", { name: "Rematch" }).click();
  await ben.page.getByText(/wants a rematch/).first().waitFor();
  await ben.page.getByRole("button", { name: "Decline" }).click();
  await ada.page.getByText("Ben declined the rematch.").first().waitFor();
  await ada.page.getByRole("button", { name: "Rematch" }).click();
  await ben.page.getByText(/wants a rematch/).first().waitFor();
  await ben.page.getByRole("button", { name: "Accept" }).click();
  await ben.page.waitForURL((url) => !first.endsWith(url.pathname));
  await ada.page.waitForURL((url) => !first.endsWith(url.pathname));
  assert.equal(new URL(ada.page.url()).pathname, new URL(ben.page.url()).pathname);

  // Ten moves each in the rematch.
  for (let turn = 0; turn < 20; turn++) {
    const turnOf = (page) => headline(page).then((said) => said === "Your turn");
    await eventually("somebody is to move", async () => (await turnOf(ada.page)) !== (await turnOf(ben.page)));
    const mover = (await turnOf(ada.page)) ? ada.page : ben.page;
    // Columns in an order without four in a row.
    await column(mover, [1, 2, 1, 2, 2, 1, 2, 1, 3, 4, 3, 4, 4, 3, 4, 3, 5, 6, 5, 6][turn]).click();
    for (const page of [ada.page, ben.page]) await eventually("both see the move", async () => (await discs(page)) === turn + 1 || (await discs(page)));
  }
  for (const page of [ada.page, ben.page]) assert.equal(await page.getByText(/to reconnect/).count(), 0, "nobody seems to be gone");

  // Ben has to confirm; someone joining in between does not cancel the question.
  await ben.page.getByRole("button", { name: "Resign", exact: true }).click();
  const late = await browser.visit(ben.page.url());
  await ben.page.getByText("1 watching").first().waitFor();
  await ben.page.getByRole("button", { name: "Resign now?" }).click();
  for (const [page, result] of [[ada.page, "You won"], [ben.page, "You lost"]]) {
    await eventually("the game is over", async () => (await headline(page)) === result || (await headline(page)));
  }
  for (const visitor of [ada, ben, watcher, late]) await visitor.close();
});

/** A game against a program, from the address of the page on. */
async function beginGame(page) {
  await page.goto(`${server.base}/new`);
  await page.getByRole("button", { name: "Start game" }).click();
  await page.waitForURL(/\/game\//);
  await eventually("the person is to move", async () => (await headline(page)) === "Your turn" || (await headline(page)));
}

/** Makes a move and waits for the reply to it. */
async function playAndHear(page, number) {
  const before = (await gameOf(page)).moves.length;
  await column(page, number).click();
  await eventually("the move and the reply are on the board", async () => (await moves(page)) >= before + 2 || (await moves(page)));
}

test("a game continues after a server restart", async () => {
  // A proxy in front of the server answers 502 meanwhile.
  const { page, close } = await browser.visit(server.base, DESKTOP, { mayFail: /WebSocket|ERR_|Failed to load resource|502/ });
  await beginGame(page);
  await playAndHear(page, 4);
  const restarted = server.restart(1_500);
  await page.locator(".offline").waitFor();
  await restarted;
  await page.locator(".offline").waitFor({ state: "hidden" });
  await playAndHear(page, 3);
  await close();
});

test("calls to a busy server are retried after the requested wait, and without a WebSocket the game is fetched over HTTP", async () => {
  const { page, close } = await browser.visit(server.base, DESKTOP, { mayFail: /WebSocket|503|429/ });
  // As if the server's limit of sockets were reached.
  await page.routeWebSocket(/\/live$/, (socket) => socket.close());
  let refusals = 2;
  const asked = [];
  await page.route(/\/api\/games(\/\w+\/moves)?$/, (route) => {
    if (route.request().method() !== "POST" || refusals === 0) return route.continue();
    refusals -= 1;
    asked.push(Date.now());
    const status = refusals === 1 ? 503 : 429;
    return route.fulfill({ status, headers: { "retry-after": "1" }, json: { error: "The server is busy, try again" } });
  });
  // The first two attempts to start a game are refused.
  await beginGame(page);
  assert.equal(refusals, 0);
  assert.ok(asked[1] - asked[0] >= 990, "the pause is kept");
  refusals = 1;
  await playAndHear(page, 4);
  assert.equal(refusals, 0);
  await playAndHear(page, 3);
  // If the requested wait is long, the page says so.
  await page.route(/\/moves$/, (route) => route.fulfill({ status: 503, headers: { "retry-after": "40" }, json: { error: "The server is busy, try again" } }));
  const before = (await gameOf(page)).moves.length;
  await column(page, 5).click();
  await page.getByText("The server is busy. Try again in 40 seconds.").first().waitFor();
  assert.equal(await discs(page), before, "the disc is taken off");
  await page.unroute(/\/moves$/);
  await playAndHear(page, 5);
  await close();
});

test("a game that is deleted elsewhere shows so and links to the home page", async () => {
  const { page, context, watch, close } = await browser.visit(server.base, DESKTOP, { mayFail: /404/ });
  await beginGame(page);
  const other = watch(await context.newPage());
  await other.goto(server.base);
  const id = page.url().split("/").at(-1);
  const deleted = await other.evaluate((id) => fetch(`/api/games/${id}`, { method: "DELETE" }).then((answer) => answer.status), id);
  assert.equal(deleted, 204);
  await page.getByRole("heading", { name: "Game not found" }).waitFor();
  await page.getByRole("link", { name: "Go to the home page" }).click();
  await page.waitForURL(`${server.base}/`);
  await beginGame(page);
  await close();
});
