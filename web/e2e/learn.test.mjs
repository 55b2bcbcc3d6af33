// The lessons: tried, explained, kept, printed; the tutorial of the first visit; a practice game at the end.

import assert from "node:assert/strict";
import { after, before, column, DESKTOP, discs, eventually, PHONE, SIDEWAYS, startBrowser, startServer, test } from "./harness.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const message = (page) => page.locator(".message");

test("a lesson: a wrong answer with its explanation, right answers, a reload, and the next lesson", async () => {
  const { page, close } = await browser.visit(`${server.base}/learn`);
  await page.getByText("0 of 24 lessons done").waitFor();
  await page.getByRole("link", { name: "Start the first lesson" }).click();
  await page.getByRole("heading", { name: "Four in a row", level: 1 }).waitFor();
  await page.locator(".prompt").getByText("You are Red. Connect four!").waitFor();

  await column(page, 1).click();
  await message(page).filter({ hasText: "Not this one. You could have connected four at column 6, row 1." }).waitFor();
  await page.getByRole("button", { name: "Try again" }).click();
  await eventually("the wrong disc is taken back", async () => (await discs(page)) === 6 || (await discs(page)));
  await column(page, 6).click();
  await message(page).filter({ hasText: "Right! Four across, in columns 3 to 6." }).waitFor();
  await page.getByRole("button", { name: "Next position" }).click();
  await column(page, 5).click();
  await message(page).filter({ hasText: "Right!" }).waitFor();

  // Solved positions stay solved, and the lesson continues with the third one.
  await page.reload();
  await page.getByRole("button", { name: "Position 2 of 3, done" }).waitFor();
  await eventually("the third position", async () => (await discs(page)) === 12 || (await discs(page)));
  await page.keyboard.press("5");
  await page.getByRole("heading", { name: "Lesson complete" }).waitFor();
  await page.getByRole("link", { name: "Next lesson: Gaps" }).click();
  await page.getByRole("heading", { name: "Gaps", level: 1 }).waitFor();
  await page.goto(`${server.base}/learn`);
  await page.getByText("1 of 24 lessons done").waitFor();
  await page.getByRole("link", { name: "Continue: Gaps" }).waitFor();
  await close();
});

test("why an answer is wrong can be stepped through, with the keyboard alone", async () => {
  const { page, close } = await browser.visit(`${server.base}/learn/double`);
  // The second position of the lesson.
  await page.getByRole("button", { name: "Position 2 of 3" }).click();
  await page.locator(".prompt").getByText("You are Red. Find the fastest win.").waitFor();
  await page.keyboard.press("1");
  await message(page).filter({ hasText: "with 3 more discs" }).waitFor();
  await page.getByRole("button", { name: "Show why" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("After column 1").waitFor();
  await page.locator(".frame .line").first().waitFor({ state: "attached" });
  // Another try, without taking back first.
  await page.keyboard.press("3");
  await message(page).filter({ hasText: "Right!" }).waitFor();
  await message(page).filter({ hasText: "column 2, row 4; column 3, row 4" }).waitFor();
  assert.equal(await page.locator(".frame g.mark").count(), 2);
  await close();
});

test("a lesson ends with a practice game from its position, and links to analysis and lab", async () => {
  const { page, close } = await browser.visit(`${server.base}/learn/lasting`);
  await page.locator(".prompt").waitFor();
  await page.keyboard.press("3");
  await page.getByRole("button", { name: "Next position" }).click();
  assert.match(await page.getByRole("link", { name: "Analysis board" }).getAttribute("href"), /pos=44745667$/);
  assert.match(await page.locator(".tools").getByRole("link", { name: "Lab" }).getAttribute("href"), /pos=44745667$/);
  await page.keyboard.press("4");
  await page.getByRole("button", { name: "Practise against level 4" }).click();
  await page.waitForURL(/\/game\//);
  await eventually("the prepared position", async () => (await discs(page)) === 8 || (await discs(page)));
  await page.getByText("Your turn").first().waitFor();
  await column(page, 5).click();
  await eventually("the reply", async () => (await discs(page)) === 10 || (await discs(page)));
  await close();
});

test("the tutorial of the first visit: five boards, offered only once", async () => {
  const { page, close } = await browser.visit(server.base);
  await page.getByRole("link", { name: "Start the tutorial" }).click();
  for (const [step, answer] of [[1, 4], [2, 6], [3, 7], [4, 3], [5, 3]]) {
    await page.getByText(`Step ${step} of 5`).waitFor();
    await column(page, answer).click();
    await message(page).filter({ hasText: "Right!" }).waitFor();
    await page.getByRole("button", { name: "Next", exact: true }).click();
  }
  await page.getByRole("heading", { name: "You know the game" }).waitFor();
  await page.getByRole("button", { name: "Play level 1" }).click();
  await page.waitForURL(/\/game\//);
  await page.goto(server.base);
  await page.getByRole("heading", { name: "Connect Four", level: 1 }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Start the tutorial" }).count(), 0);
  await close();

  // Declined, it does not come back either.
  const other = await browser.visit(server.base);
  await other.page.getByRole("button", { name: "Not now" }).click();
  await other.page.reload();
  await other.page.getByRole("heading", { name: "Connect Four", level: 1 }).waitFor();
  assert.equal(await other.page.getByRole("link", { name: "Start the tutorial" }).count(), 0);
  await other.close();
});

test("a printed lesson has all its positions and their solutions", async () => {
  const { page, close } = await browser.visit(`${server.base}/learn/odd`);
  await page.getByRole("heading", { name: "Odd rows for the first player" }).waitFor();
  assert.equal(await page.locator(".sheet").isVisible(), false);
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator(".sheet figure").count(), 3);
  assert.equal(await page.locator(".sheet").isVisible(), true);
  assert.equal(await page.locator("#app > header").isVisible(), false);
  assert.match(await page.locator(".solutions").innerText(), /The answer is column 6\./);
  await close();
});

for (const [name, size] of [["desktop", DESKTOP], ["phone", PHONE], ["sideways", SIDEWAYS]]) {
  test(`no lesson is wider than the screen: ${name}`, async () => {
    const { page, close } = await browser.visit(`${server.base}/learn/zugzwang`, size);
    for (const path of ["/learn/zugzwang", "/learn", "/learn/tutorial", "/learn/opening"]) {
      await page.goto(server.base + path);
      await page.locator("main h1").waitFor();
      await page.locator("main svg").first().waitFor();
      const [width, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(width <= window, `${path}: ${width} > ${window}`);
    }
    await close();
  });
}

test("the opening trainer: a wrong answer, the right one, the next position, a reload", async () => {
  const { page, close } = await browser.visit(`${server.base}/learn`);
  await page.getByRole("link", { name: "Open the opening trainer" }).click();
  await page.getByRole("heading", { name: "Win as the first player", level: 1 }).waitFor();
  await page.getByText("Move 1: which column?").waitFor();
  await column(page, 1).click();
  await message(page).filter({ hasText: "Column 1 gives the win away. Column 4 wins: play it." }).waitFor();
  assert.equal(await discs(page), 0);
  // The same position again, with the keyboard: it is due at once, because it was wrong.
  await page.keyboard.press("4");
  await message(page).filter({ hasText: "It comes up again today." }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("Move 1: which column?").waitFor();
  await page.keyboard.press("4");
  await message(page).filter({ hasText: "It comes up again in 1 day." }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("Move 2: which column?").waitFor();
  await page.getByText("Tried so far: 1 of").waitFor();

  await page.reload();
  await page.getByText("Move 2: which column?").waitFor();
  await page.getByText("Tried so far: 1 of").waitFor();
  await page.getByText("nothing due").waitFor();
  await close();
});

test("a game of the opening trainer against the toughest replies continues as a real game", async () => {
  const { page, close } = await browser.visit(`${server.base}/learn/opening`);
  await page.getByRole("radio", { name: "Toughest replies" }).check();
  const end = page.getByRole("button", { name: "Play on against level 6" });
  for (let move = 1; ; move++) {
    await page.getByText(`Move ${move}: which column?`).or(end).first().waitFor();
    if (await end.isVisible()) break;
    await playRight(page);
  }
  const before = await discs(page);
  assert.ok(before >= 5, `${before} discs`);
  await end.click();
  await page.waitForURL(/\/game\//);
  await eventually("the reply", async () => (await discs(page)) === before + 1 || (await discs(page)));
  await page.getByText("Your turn").first().waitFor();
  await close();
});

/** Plays the right move. Any other answer names it. */
async function playRight(page) {
  const before = await discs(page);
  await column(page, 1).click();
  await eventually("an answer", async () => (await message(page).innerText()) !== "" || "no message");
  const named = (await message(page).innerText()).match(/Column (\d) wins: play it|here it is column (\d)/);
  if (named) await column(page, named[1] ?? named[2]).click();
  await eventually("the disc", async () => (await discs(page)) > before || (await discs(page)));
}
