// Sizes and languages: what one plays with is on the first screen, nothing is wider than the window, no text leaves its place.

import assert from "node:assert/strict";
import { after, before, checkAccess, checkWidth, column, DESKTOP, eventually, moves, PHONE, screenshot, startBrowser, startServer, test } from "./harness.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const touch = { hasTouch: true, isMobile: true };
const SIZES = {
  "844x390": { viewport: { width: 844, height: 390 }, ...touch },
  "667x375": { viewport: { width: 667, height: 375 }, ...touch },
  "320x568": { viewport: { width: 320, height: 568 }, ...touch },
  // A window of 1280 by 800 at 200 % zoom.
  "zoom200": { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
  "4k": { viewport: { width: 3840, height: 2160 } },
};
const PAGES = ["/", "/new", "/new?kind=watch", "/games", "/settings", "/about", "/lab", "/arena", "/training", "/analysis", "/puzzles", "/statistics"];
const name = (path) => path.replace(/\W+/g, "") || "home";

for (const [size, options] of Object.entries(SIZES)) {
  test(`a game at ${size}: the board and its controls are on the first screen`, async () => {
    const { page, close } = await browser.visit(server.base, options);
    await column(page, 4).click();
    await page.waitForURL(/\/game\//);
    await eventually("both have moved", async () => (await moves(page)) === 2 || (await moves(page)));
    const { width, height } = page.viewportSize();
    for (const part of [page.locator(".board svg").first(), page.getByRole("button", { name: "Undo" }), page.getByRole("button", { name: "Hint" }), page.getByRole("button", { name: "Resign" })]) {
      const box = await part.boundingBox();
      assert.ok(box && box.x >= 0 && box.y >= 0 && box.x + box.width <= width + 1 && box.y + box.height <= height + 1, `${part} is at ${JSON.stringify(box)} in ${width} x ${height}`);
    }
    await checkWidth(page, `a game at ${size}`);
    await screenshot(page, `size-game-${size}`);
    // The next step: another move, at this size.
    await column(page, 3).click();
    await eventually("both have moved again", async () => (await moves(page)) === 4 || (await moves(page)));
    await close();
  });

  test(`every page at ${size} is as wide as the window`, async () => {
    const { page, close } = await browser.visit(server.base, options);
    for (const path of PAGES) {
      await page.goto(server.base + path);
      await page.waitForLoadState("networkidle");
      await page.locator("main h1").waitFor({ state: "attached" });
      await checkWidth(page, `${path} at ${size}`);
      await screenshot(page, `size-${name(path)}-${size}`);
      if (size === "zoom200") await checkAccess(page, `${path} at 200 %`);
    }
    await close();
  });
}

/** Buttons, tabs and labels whose text is cut off or leaves its box. What has its full text as a title may be shortened. */
const overflowing = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("button, a.button, nav a, label > span, legend, th, summary, h1, h2, h3, .card")]
      .filter((element) => element.textContent.trim() && element.checkVisibility() && element.clientWidth > 1 && !element.closest(".sr, [title]") && getComputedStyle(element).clipPath === "none")
      .filter((element) => element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== "inline")
      .map((element) => `${element.tagName} '${element.textContent.trim().slice(0, 60)}' is ${element.scrollWidth} wide in ${element.clientWidth}`),
  );

for (const [locale, title] of Object.entries({ "en-GB": "Settings", "de-DE": "Einstellungen", "es-ES": "Ajustes" })) {
  for (const [size, options] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
    test(`no text leaves its place: ${locale}, ${size}`, async () => {
      const { page, close } = await browser.visit(`${server.base}/settings`, { ...options, locale });
      await page.getByRole("heading", { name: title, level: 1 }).waitFor();
      assert.equal(await page.evaluate(() => document.documentElement.lang), locale.slice(0, 2));
      for (const path of PAGES) {
        await page.goto(server.base + path);
        await page.waitForLoadState("networkidle");
        await page.locator("main h1").waitFor({ state: "attached" });
        assert.deepEqual(await overflowing(page), [], `${path}, ${locale}, ${size}`);
        await checkWidth(page, `${path}, ${locale}`);
        await screenshot(page, `language-${name(path)}-${locale.slice(0, 2)}-${size}`);
      }
      await close();
    });
  }
}

test("the language is chosen in the settings, and stays", async () => {
  const { page, close } = await browser.visit(`${server.base}/settings`);
  await page.getByLabel("Language").selectOption("Deutsch");
  await page.getByRole("heading", { name: "Einstellungen", level: 1 }).waitFor();
  await page.getByLabel("Sprache").selectOption("Español");
  await page.getByRole("heading", { name: "Ajustes", level: 1 }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Ajustes", level: 1 }).waitFor();
  await page.goto(server.base);
  await column(page, 4).click();
  await page.waitForURL(/\/game\//);
  await page.getByText("Te toca").first().waitFor();
  await close();
});
