// A visitor's games: finding them again, and listing them publicly only if the players want it.

import assert from "node:assert/strict";
import { after, before, column, eventually, gameOf, headline, localGame, screenshot, startBrowser, startServer, test, yourTurn } from "./harness.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const WON = [4, 5, 4, 5, 4, 5, 4];

test("the history: games are listed, filtered, replayed and deleted", async () => {
  const { page, close } = await browser.visit(server.base);
  const won = await localGame(page, server.base, WON);
  await localGame(page, server.base, [1, 2], { cols: 5, rows: 4, ruleset: "lines" });
  await page.goto(server.base);
  await page.getByRole("slider", { name: /Level/ }).fill("2");
  await column(page, 4).click();
  await page.waitForURL(/\/game\//);
  await yourTurn(page);
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

  // Another visitor sees none of these and cannot delete them.
  const other = await browser.visit(`${server.base}/games`);
  await other.page.getByText("No games yet").waitFor();
  await other.close();
  await close();
});


test("all data of a visitor can be deleted, and the next game starts a new history", async () => {
  const { page, close } = await browser.visit(server.base);
  await localGame(page, server.base, WON);
  await page.goto(`${server.base}/settings`);
  await page.getByLabel("Your name").fill("Ada");
  await page.getByRole("button", { name: "Delete my data…" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete my data" });
  await screenshot(page, "delete-data");
  // Nothing is deleted before it is confirmed.
  await dialog.getByRole("button", { name: "Keep my data" }).click();
  await page.goto(`${server.base}/games`);
  await page.locator(".tile").waitFor();
  await page.goto(`${server.base}/settings`);
  await page.getByRole("button", { name: "Delete my data…" }).click();
  await dialog.getByRole("button", { name: "Delete everything" }).click();
  await page.getByText("Your data has been deleted.").waitFor();
  assert.equal(await page.getByLabel("Your name").inputValue(), "");
  assert.deepEqual(await page.context().cookies(), []);

  await page.goto(`${server.base}/games`);
  await page.getByText("No games yet").waitFor();
  const next = await localGame(page, server.base, [4]);
  await page.goto(`${server.base}/games`);
  await page.locator(`.tile[href="/game/${next}"]`).waitFor();
  assert.equal(await page.locator(".tile").count(), 1);
  await close();
});

test("a local game is private until its player lists it publicly", async () => {
  const ada = await browser.visit(server.base);
  const id = await localGame(ada.page, server.base, WON);
  const tile = `.tile[href="/game/${id}"]`;
  const eve = await browser.visit(`${server.base}/games`);
  const everyones = async () => {
    await eve.page.goto(`${server.base}/games`);
    await eve.page.getByRole("radio", { name: "Everyone's games" }).check();
    await eve.page.locator(".tile, .none, .page p").first().waitFor();
  };
  const shows = async (listed) => {
    await eventually(listed ? "the other visitor finds it" : "the other visitor does not find it", async () => {
      await everyones();
      await eve.page.waitForLoadState("networkidle");
      return ((await eve.page.locator(tile).count()) === 1) === listed;
    });
  };
  await shows(false);
  // Anyone with the link can watch, but not change the listing.
  await eve.page.goto(`${server.base}/game/${id}`);
  await eve.page.getByRole("button", { name: "Share" }).click();
  assert.equal(await eve.page.getByLabel("Show this game in the public list").count(), 0);

  await ada.page.getByRole("button", { name: "Share" }).click();
  const choice = ada.page.getByLabel("Show this game in the public list");
  assert.equal(await choice.isChecked(), false);
  await choice.check();
  await ada.page.getByText("This game is now in the public list.").first().waitFor();
  await shows(true);
  await eve.page.locator(tile).click();
  await eventually("the game is watched", async () => (await headline(eve.page)) === "Red won" || (await headline(eve.page)));

  await ada.page.reload();
  await ada.page.getByRole("button", { name: "Share" }).click();
  assert.equal(await choice.isChecked(), true);
  await choice.uncheck();
  await ada.page.getByText("This game is no longer in the public list.").first().waitFor();
  await shows(false);
  await eve.close();
  await ada.close();
});

test("a game with a friend is public only if the host lists it before the friend joins, and either player can unlist it", async () => {
  const ada = await browser.visit(server.base);
  await ada.page.getByRole("button", { name: "Invite a friend" }).click();
  await ada.page.getByRole("dialog").getByLabel("Your name").fill("Ada");
  await ada.page.keyboard.press("Enter");
  await ada.page.waitForURL(/\/game\//);
  const choice = (page) => page.getByLabel("Show this game in the public list");
  assert.equal(await choice(ada.page).isChecked(), false);
  await choice(ada.page).check();
  await ada.page.getByText("This game is now in the public list.").first().waitFor();

  // The friend sees it before joining.
  const ben = await browser.visit(ada.page.url());
  await ben.page.getByText("This game is in the public list: anyone can find and watch it.").waitFor();
  await ben.page.getByLabel("Your name").fill("Ben");
  await ben.page.getByRole("button", { name: /^Play (Red|Yellow)$/ }).click();
  await ben.page.getByRole("button", { name: "Share" }).click();
  await choice(ben.page).uncheck();
  await ben.page.getByText("This game is no longer in the public list.").first().waitFor();

  // One of two people cannot list the game alone.
  await ada.page.getByRole("button", { name: "Share" }).click();
  await eventually("Ada sees it", async () => !(await choice(ada.page).isChecked()) && (await choice(ada.page).isDisabled()));
  await ada.page.getByText("In a game between two people, you can only choose this before the second player joins.").waitFor();
  await ben.close();
  await ada.close();
});
