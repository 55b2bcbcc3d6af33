// The fleet page in a browser, with the real program, a real NATS server and real workers.

import assert from "node:assert/strict";
import { after, before, checkAccess, checkWidth, DESKTOP, eventually, PHONE, screenshot, SIDEWAYS, startBrowser, startNats, startServer, startWorker, test, TINY } from "./harness.mjs";

let nats, server, alone, browser;
const workers = new Set();
before(async () => {
  nats = await startNats();
  [server, alone] = [nats && (await startServer(["--nats", nats.url])), await startServer()];
  browser = await startBrowser();
});
after(async () => {
  await browser?.stop();
  for (const worker of workers) await worker.kill();
  await alone?.stop();
  await server?.stop();
  await nats?.stop();
});

function work() {
  const worker = startWorker(nats.url);
  workers.add(worker);
  const ending = (end) => async () => {
    workers.delete(worker);
    await end();
  };
  return { stop: ending(worker.stop), kill: ending(worker.kill) };
}

/** The value of a figure at the top. */
const figure = (page, name) => page.locator(".facts div", { hasText: name }).locator("dd").textContent();

const LOOKS = { desktop: DESKTOP, dark: { ...DESKTOP, colorScheme: "dark" }, phone: PHONE, sideways: SIDEWAYS, tiny: TINY };

/** Looks at the page in every size and both themes. */
async function look(name, ready, { base = server.base, only = Object.keys(LOOKS) } = {}) {
  for (const size of only) {
    const { page, close } = await browser.visit(`${base}/fleet`, LOOKS[size]);
    await page.locator(ready).first().waitFor();
    await checkAccess(page, `${name}, ${size}`);
    await checkWidth(page, `${name}, ${size}`);
    await screenshot(page, `fleet-${name}-${size}`);
    await close();
  }
}

test("without a fleet, the page explains what one is and how to set it up, in every language", async () => {
  const { page, close } = await browser.visit(`${alone.base}/arena`);
  await page.getByRole("link", { name: "Let other machines help" }).click();
  await page.waitForURL(/\/fleet$/);
  assert.equal(await page.title(), "Fleet · Claimeven");
  await page.getByRole("heading", { name: "What is a fleet?" }).waitFor();
  await page.getByText("claimeven work --nats nats://HOST:4222").waitFor();
  await close();
  await look("none", "code", { base: alone.base });
  for (const [locale, title] of [["de", "Was ist eine Flotte?"], ["es", "¿Qué es una flota?"]]) {
    const { page, close } = await browser.visit(`${alone.base}/fleet`, { ...PHONE, locale });
    await page.getByRole("heading", { name: title }).waitFor();
    await checkAccess(page, locale);
    await checkWidth(page, locale);
    await close();
  }
});

test("visitors without access only see what a fleet is", async () => {
  const { page, close } = await browser.visit(`${alone.base}/fleet`, { ...DESKTOP, extraHTTPHeaders: { "x-forwarded-for": "9.9.9.9" } });
  await page.getByText("Only the operator of this server can see its fleet.").waitFor();
  await checkAccess(page, "not allowed");
  await page.goto(`${alone.base}/arena`);
  await page.getByRole("button", { name: "Start tournament" }).waitFor();
  assert.equal(await page.locator('a[href="/fleet"]').count(), 0);
  await close();
});

test("workers join and leave, a job makes progress, NATS goes down and comes back", async () => {
  test.skip(!nats, "nats-server is not installed");
  const { page, context, watch, close } = await browser.visit(`${server.base}/fleet`);
  await page.getByRole("heading", { name: "No workers are connected." }).waitFor();
  await look("empty", "code");

  const [first, second] = [work(), work()];
  await eventually("two workers are there", async () => (await figure(page, "Workers")) === "2" || (await figure(page, "Workers")));
  assert.equal(await page.getByRole("region", { name: "Workers" }).locator("tbody tr").count(), 2);

  // They play a tournament that is started on the page.
  const other = watch(await context.newPage());
  await other.goto(`${server.base}/arena`);
  await other.getByRole("link", { name: "Fleet: 2 workers" }).waitFor();
  // Games that take long enough to be seen.
  await other.getByRole("textbox", { name: "Simulations" }).first().fill("40000");
  await other.getByLabel("Games per pairing", { exact: true }).fill("600");
  await other.getByLabel("Title").fill("Cup of machines");
  await other.getByRole("button", { name: "Start tournament" }).click();
  await other.waitForURL(/\/arena\/\w+$/);
  await other.getByText("Played by 2 workers of the fleet.").waitFor();
  await other.getByRole("heading", { name: "Recently finished games" }).waitFor();
  await eventually("a game is shown", async () => (await other.locator(".picture .disc").count()) > 4);
  await screenshot(other, "fleet-tournament");

  const job = page.locator("article", { hasText: "Cup of machines" });
  const progress = async () => Number((await job.locator(".count").textContent()).split(" of ")[0].replaceAll(",", ""));
  await job.waitFor();
  await eventually("units are done", async () => (await progress()) > 5 || (await progress()));
  const before = await progress();
  await eventually("more of them", async () => (await progress()) > before || (await progress()));
  await eventually("the plot is drawn", async () => (await page.locator("figure svg .line").count()) >= 2);
  await look("busy", "article");

  // The page is the same after a reload.
  await page.reload();
  await job.waitFor();
  assert.equal(await figure(page, "Workers"), "2");
  await eventually("the plot is there", async () => (await page.locator("figure svg .line").count()) >= 2);

  // Everything can be reached with the keyboard.
  await page.getByRole("region", { name: "Workers" }).focus();
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Copy" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Copied" }).waitFor();

  await first.stop();
  await page.getByText(/ was stopped \d+ s ago, after [\d,]+ units?\.$/).waitFor();
  assert.equal(await figure(page, "Workers"), "1");
  await second.kill();
  await page.getByText(/ has not been heard from for \d+ s; it had finished/).waitFor();
  await look("gone", "article, h2", { only: ["desktop", "phone"] });

  await other.getByRole("button", { name: "Stop" }).click();
  await other.getByText("Stopped", { exact: true }).waitFor();

  await nats.kill();
  await page.getByText(`The NATS server at ${nats.url} cannot be reached.`).waitFor();
  await look("lost", ".lost", { only: ["desktop", "dark", "phone", "sideways"] });
  // Games do not need it.
  await other.goto(`${server.base}/new?kind=two`);
  await other.getByRole("button", { name: "Start game" }).click();
  await other.waitForURL(/\/game\//);
  await nats.start();
  await eventually("it is back", async () => (await page.locator(".lost").count()) === 0);
  await close();
});
