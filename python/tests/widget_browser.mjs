// Plays on the notebook widget in Chromium: node widget_browser.mjs WEB CHROMIUM ADDRESS ADDRESS SCREENSHOT
//
// WEB is the folder of the page, whose Playwright is used. The first address has a board at 4455, the second one a 5x4 board
// (connect 3) with an opponent.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import path from "node:path";

const [web, executablePath, board, opponent, screenshot] = process.argv.slice(2);
const { chromium, expect } = createRequire(path.join(web, "package.json"))("@playwright/test");
const expecting = expect.configure({ timeout: 120_000 });

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const page = await browser.newPage({ viewport: { width: 700, height: 480 } });
  const errors = [];
  page.on("pageerror", (error) => errors.push(error));
  page.setDefaultTimeout(120_000);
  const discs = (player) => page.locator(`circle[fill="${["", "#d8343c", "#f5c518"][player]}"]`);
  const column = (number) => page.getByRole("button", { name: new RegExp(`^Column ${number}`) });
  const values = (texts) => expecting(page.locator(".claimeven-value")).toHaveText(texts);
  const moves = page.getByLabel("Moves");
  const status = page.getByRole("status");

  await page.goto(board);
  await values(["L16", "L17", "W2", "W18", "W18", "W2", "L17"]);
  await expecting(status).toHaveText("X (red) to move");
  await page.screenshot({ path: screenshot });

  // A click plays, and the values are those of the new position.
  await column(3).click();
  await expecting(moves).toHaveValue("44553");
  await expecting(discs(1)).toHaveCount(3);
  await expecting(status).toHaveText("O (yellow) to move");
  await values(Array(7).fill(/^L\d+$/));

  // So does the keyboard, and the focus stays where it was.
  await column(2).focus();
  await page.keyboard.press("Enter");
  await expecting(moves).toHaveValue("445532");
  await expecting(column(2)).toBeFocused();
  await page.keyboard.press(" ");
  await expecting(moves).toHaveValue("4455322");

  // Setting up: a won game shows its row, and an invalid text is rejected.
  await moves.fill("1212121");
  await moves.press("Enter");
  await expecting(status).toHaveText("X (red) wins");
  await expecting(page.locator('circle[r="15"]:visible')).toHaveCount(4);
  await values(Array(7).fill(""));
  await moves.fill("129");
  await moves.press("Enter");
  await expecting(status).toContainText("9");
  await expecting(discs(1)).toHaveCount(4);
  await page.getByRole("button", { name: "Undo" }).click();
  await expecting(moves).toHaveValue("121212");
  await expecting(page.locator('circle[r="15"]:visible')).toHaveCount(0);
  await expecting(page.locator(".claimeven-value").first()).toHaveText("W1");

  await page.getByRole("button", { name: "New game" }).click();
  await expecting(moves).toHaveValue("");
  await values(["L20", "L21", "=", "W21", "=", "L21", "L20"]);
  await page.getByRole("button", { name: "Best move" }).click();
  await expecting(moves).toHaveValue("4");
  await page.getByLabel("exact values").uncheck();
  await values(Array(7).fill(""));
  await page.getByLabel("exact values").check();
  await expecting(page.locator(".claimeven-value").nth(3)).toHaveText(/^[WL]\d+$|^=$/);

  // An opponent replies; undo also takes its reply back.
  await page.goto(opponent);
  await column(3).click();
  await expecting(discs(1)).toHaveCount(1);
  await expecting(discs(2)).toHaveCount(1);
  await page.getByRole("button", { name: "Undo" }).click();
  await expecting(moves).toHaveValue("");

  assert.deepEqual(errors, []);
} finally {
  await browser.close();
}
