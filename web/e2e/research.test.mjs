// The lab, the arena and training in a browser, against the real program.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, checkAccess, DESKTOP, eventually, PHONE, screenshot, startBrowser, startServer, test } from "./harness.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

test("the lab: trees side by side, step by step, in words and by keyboard", async () => {
  const { page, close } = await browser.visit(`${server.base}/lab`);
  await page.getByRole("heading", { name: "Alpha-beta", exact: true }).waitFor();
  await page.getByRole("heading", { name: "Minimax", exact: true }).waitFor();
  const costs = await page.locator(".pane header").allTextContents();
  const nodes = costs.map((text) => Number(/([\d,]+) nodes/.exec(text)[1].replaceAll(",", "")));
  assert.ok(nodes[1] < nodes[0], `alpha-beta looks at fewer nodes: ${nodes}`);
  assert.ok(costs.every((text) => text.includes("wins in 2")), costs.join());

  await page.getByRole("button", { name: "First step", exact: true }).click();
  const words = page.locator(".words");
  const next = page.getByRole("button", { name: "Next step", exact: true });
  await next.click();
  await eventually("the search begins", async () => (await words.textContent()).includes("The search starts"));
  for (let step = 0; step < 3; step++) await next.click();
  await eventually("it evaluates", async () => /The evaluation of|Searches/.test(await words.textContent()) || (await words.textContent()));
  await page.getByLabel("Steps per second").selectOption("240");
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await eventually("it plays to the end", async () => (await page.getByRole("button", { name: "Last step", exact: true }).isDisabled()) === true);

  const tree = page.getByRole("application", { name: "Search tree of Alpha-beta" });
  await tree.focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowDown");
  await eventually("a child is told", async () => /▼|the opponent/.test(await page.locator(".facts").textContent()));
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await eventually("another child is told", async () => /Moves\s*\d/.test(await page.locator(".facts").textContent()));
  await screenshot(page, "lab-step");
  await close();
});

test("the lab: five thousand nodes move smoothly, larger trees say what is left out", async () => {
  const { page, close } = await browser.visit(`${server.base}/lab?pos=44`);
  await page.getByRole("heading", { name: "Alpha-beta", exact: true }).waitFor();
  await page.getByRole("checkbox", { name: "Alpha-beta" }).uncheck();
  for (let depth = 3; depth < 6; depth++) await page.getByRole("button", { name: "Depth: increase" }).click();
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await page.getByText(/5,000 of [\d,]+ nodes are drawn/).waitFor();
  await page.getByRole("button", { name: "Expand all" }).click();
  const canvas = page.locator("canvas");
  const box = await canvas.boundingBox();
  const frames = [];
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  for (let step = 1; step <= 30; step++) {
    await page.mouse.move(box.x + box.width / 2 + 8 * step, box.y + box.height / 2);
    frames.push(Number(await canvas.getAttribute("data-draw-ms")));
  }
  await page.mouse.up();
  frames.sort((a, b) => a - b);
  // A frame at 60 Hz has 16.7 ms; drawing must leave most of it, even on a busy machine.
  assert.ok(frames[15] < 16, `drawing takes ${frames[15]} ms`);
  for (let step = 0; step < 12; step++) await page.getByRole("button", { name: "Zoom in: Minimax" }).click();
  await screenshot(page, "lab-large");
  await close();
});

test("the lab: an invalid position shows an error", async () => {
  const { page, close } = await browser.visit(`${server.base}/lab`, DESKTOP, { mayFail: /400/ });
  await page.getByRole("heading", { name: "Alpha-beta", exact: true }).waitFor();
  await page.getByLabel("Moves", { exact: true }).fill("449");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await page.getByRole("alert").filter({ hasText: "'9'" }).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("button", { name: "Drop in column 5" }).click();
  assert.equal(await page.getByLabel("Moves", { exact: true }).inputValue(), "445");
  await close();
});

test("the comparison: runs live, is cancelled, plotted and downloaded", async () => {
  // This many searches may hit the server's rate limit, which the page has to wait for.
  const { page, close } = await browser.visit(`${server.base}/lab?view=compare`, DESKTOP, { mayFail: /429/ });
  await page.getByRole("spinbutton", { name: "Maximum depth" }).fill("4");
  await page.getByRole("button", { name: "Compare" }).click();
  await eventually("twelve searches are there", async () => (await page.locator("tbody tr").count()) === 12);
  const cells = await page.locator("tbody tr").last().locator("td, th").allTextContents();
  assert.equal(cells[1].trim(), "MTD(f)");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download as CSV" }).click()]);
  const lines = (await readFile(await download.path(), "utf8")).trim().split("\n");
  assert.equal(lines.length, 13);
  assert.ok(lines[0].startsWith("depth,player,"));
  await screenshot(page, "lab-compare");
  await page.getByRole("spinbutton", { name: "Maximum depth" }).fill("20");
  await page.getByRole("button", { name: "Compare" }).click();
  await eventually("some are there", async () => (await page.locator("tbody tr").count()) > 3);
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Compare" }).waitFor();
  await close();
});

test("the comparison: continues when the server asks it to wait", async () => {
  const { page, close } = await browser.visit(`${server.base}/lab?view=compare`, DESKTOP, { mayFail: /429/ });
  await page.getByRole("spinbutton", { name: "Maximum depth" }).fill("2");
  let asked = 0;
  await page.route("**/api/lab/search", (route) => {
    asked += 1;
    return asked === 3 ? route.fulfill({ status: 429, headers: { "retry-after": "1" }, json: { error: "too many requests" } }) : route.continue();
  });
  await page.getByRole("button", { name: "Compare" }).click();
  await eventually("six searches are there", async () => (await page.locator("tbody tr").count()) === 6);
  assert.equal(asked, 7);
  await close();
});

test("the arena: set up, watched, stopped, resumed, replayed", async () => {
  const { page, close } = await browser.visit(`${server.base}/arena`);
  await page.getByRole("button", { name: "Add player" }).click();
  await page.getByRole("button", { name: "Remove player 1" }).click();
  await page.getByText("30 games", { exact: true }).waitFor();
  // Enough games to be still running when the tournament is stopped.
  await page.getByLabel("Games per pairing", { exact: true }).fill("200");
  await page.getByText("600 games", { exact: true }).waitFor();
  await page.getByLabel("Title").fill("Thinkers");
  await page.getByRole("button", { name: "Start tournament" }).click();
  await page.waitForURL(/\/arena\/\w+$/);
  await page.getByRole("heading", { name: "Thinkers" }).waitFor();
  await page.getByRole("heading", { name: "Games in progress" }).waitFor();
  await page.getByRole("heading", { name: "Cross table" }).waitFor();
  await screenshot(page, "arena-live");
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Stopped", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText(/^(Running|Waiting|Finished)$/).waitFor();
  await page.getByRole("button", { name: /Replay: Game/ }).first().click();
  const slider = page.getByRole("dialog").getByRole("slider");
  const most = Number(await slider.getAttribute("max"));
  await page.getByRole("dialog").getByRole("button", { name: "First position" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Step forward" }).click();
  // The boards behind it also show games move by move.
  await page.getByRole("dialog").getByText(`Move 1 of ${most}`).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Current position" }).click();
  const rings = () => page.getByRole("dialog").locator("svg .ring").count();
  if (most < 42) await eventually("the winning row is shown", async () => (await rings()) >= 4 || (await rings()));
  await checkAccess(page, "a replay");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete now?" }).click();
  await page.waitForURL(/\/arena$/);
  await close();
});

test("training: started, watched, stopped, and a game against its network", async () => {
  const { page, close } = await browser.visit(`${server.base}/training`);
  await page.getByLabel("Board").selectOption("4x4");
  await page.getByLabel("Title").fill("Pupil");
  await page.getByRole("button", { name: "Start training" }).click();
  await page.waitForURL(/\/training\/\w+$/);
  await page.getByRole("heading", { name: "Self-play games" }).waitFor();
  await page.getByText(/^Iteration 2: /).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Stopped", { exact: true }).waitFor();
  await page.getByLabel("Network from iteration").selectOption("1");
  await page.getByLabel("Simulations").selectOption("16");
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await page.waitForURL(/\/game\//);
  await page.locator('[data-column="2"]').click();
  await eventually("the network has moved", async () => (await page.locator("[data-ply]").count()) === 2);

  // It can play in a tournament.
  await page.goto(`${server.base}/arena`);
  await page.getByRole("button", { name: "Remove player 3" }).click();
  await page.getByRole("combobox", { name: "Player 1", exact: true }).selectOption("AlphaZero");
  await page.getByRole("combobox", { name: "Network", exact: true }).selectOption("Pupil · 4 × 4");
  await page.getByRole("heading", { name: "AlphaZero, network 'Pupil'" }).waitFor();
  await page.getByRole("combobox", { name: "Board", exact: true }).selectOption("4x4");
  await page.getByLabel("Games per pairing", { exact: true }).fill("2");
  await screenshot(page, "arena-network");
  await page.getByRole("button", { name: "Start tournament" }).click();
  await page.waitForURL(/\/arena\/\w+$/);
  await page.getByText("Finished", { exact: true }).waitFor();
  await close();
});

test("tapping a truncated name shows it in full", async () => {
  const { page, close } = await browser.visit(`${server.base}/arena`, PHONE);
  const name = page.getByRole("heading", { name: "Monte Carlo, 500 simulations" }).locator("span");
  const cut = () => name.evaluate((element) => element.scrollWidth > element.clientWidth);
  assert.equal(await cut(), true);
  assert.equal(await name.getAttribute("title"), "Monte Carlo, 500 simulations");
  await name.tap();
  await eventually("all of it is there", async () => !(await cut()));
  await screenshot(page, "name-in-full-phone");
  await name.tap();
  await eventually("it is short again", cut);
  await close();
});

test("a watched game of a tournament is shown to its end, with the winning row", async () => {
  const { page, close } = await browser.visit(`${server.base}/arena`);
  // Enough games to be still running when the page first looks.
  await page.getByLabel("Games per pairing", { exact: true }).fill("600");
  await page.getByRole("button", { name: "Start tournament" }).click();
  await page.getByRole("heading", { name: "Games in progress" }).waitFor();
  await page.getByLabel("Speed").selectOption("Live");
  const live = page.getByRole("region", { name: "Games in progress" });
  await eventually("a row is shown", async () => (await live.locator("svg .ring").count()) >= 4);
  await close();
});
