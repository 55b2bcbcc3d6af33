// Sharing a game: as a link, as files, and as an embedded board.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import http from "node:http";
import { after, before, checkAccess, checkWidth, column, DESKTOP, discs, eventually, headline, localGame, PHONE, screenshot, startBrowser, startServer, test } from "./harness.mjs";

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

for (const [size, options] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
  test(`a finished game is shared by link, by code and as files: ${size}`, async () => {
    const { page, context, close } = await browser.visit(server.base, options);
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const id = await localGame(page, server.base, WON);
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByRole("link", { name: "GIF animation" }).scrollIntoViewIfNeeded();
    await checkAccess(page, "sharing");
    await checkWidth(page, "sharing");
    await screenshot(page, `sharing-${size}`);
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());

    await page.getByRole("button", { name: "Copy embed code" }).click();
    await page.getByText("Copied", { exact: true }).waitFor();
    assert.match(await clipboard(), new RegExp(`^<iframe src="${server.base}/embed/game/${id}" .*title="Connect Four game"></iframe>$`));

    const saved = async (name) => {
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name, exact: true }).click()]);
      return { file: download.suggestedFilename(), bytes: await readFile(await download.path()) };
    };
    const gif = await saved("GIF animation");
    assert.match(gif.file, /\.gif$/);
    assert.equal(gif.bytes.subarray(0, 6).toString("latin1"), "GIF89a");
    const text = await saved("Text");
    assert.match(text.file, /\.txt$/);
    assert.match(text.bytes.toString(), /4545454/);
    assert.match((await saved("PGN")).bytes.toString(), /^\[/);
    assert.equal(JSON.parse((await saved("JSON")).bytes.toString()).moves.length, WON.length);

    // Anyone with the link sees the game and can step through it.
    await page.getByRole("button", { name: "Copy link" }).click();
    const link = await clipboard();
    await close();
    const friend = await browser.visit(link, options);
    await eventually("the friend sees the result", async () => (await headline(friend.page)) === "Red won" || (await headline(friend.page)));
    await friend.page.getByRole("button", { name: "First position" }).click();
    await eventually("the first position", async () => (await discs(friend.page)) === 0);
    await friend.close();
  });
}

test("a link from another solver opens its position for analysis", async () => {
  const { page, close } = await browser.visit(`${server.base}/analysis?pos=4453`);
  await eventually("the position is there", async () => (await discs(page)) === 4 || (await discs(page)));
  await eventually("it is solved", async () => (await page.locator(".verdict .headline").textContent()) === "Yellow wins in 18");
  await column(page, 4).click();
  await page.waitForURL(/\?pos=44534$/);
  await close();
});

/** A web page on another origin that embeds addresses in frames. */
async function startFramer(addresses) {
  const frames = addresses.map((address) => `<iframe src="${address}" width="340" height="520" title="board"></iframe>`).join("");
  const framer = http.createServer((_, answer) => answer.setHeader("content-type", "text/html").end(`<!doctype html><html lang="en"><title>A blog</title><link rel="icon" href="data:,"><h1>A blog</h1>${frames}`));
  await new Promise((resolve) => framer.listen(0, "127.0.0.1", resolve));
  // `localhost` is a different site than the server's 127.0.0.1.
  return { base: `http://localhost:${framer.address().port}`, stop: () => framer.close() };
}

for (const [size, options] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
  test(`other pages embed the board and nothing else: ${size}`, async () => {
    const host = await browser.visit(server.base, options);
    const id = await localGame(host.page, server.base, WON);
    await host.close();
    const framer = await startFramer([`${server.direct}/embed/game/${id}`, `${server.direct}/embed?pos=4453`, `${server.direct}/game/${id}`, `${server.direct}/`]);
    const { page, context, close } = await browser.visit(framer.base, options, { mayFail: /frame-ancestors|X-Frame-Options|ERR_BLOCKED_BY_RESPONSE|Refused to display|Framing/ });
    const game = page.frameLocator("iframe >> nth=0");
    const position = page.frameLocator("iframe >> nth=1");
    await eventually("the game is there", async () => (await game.locator(".frame .disc").count()) === WON.length || (await game.locator(".frame .disc").count()));
    await eventually("its row is shown", async () => (await game.locator("svg .ring").count()) >= 4);
    await eventually("the position is there", async () => (await position.locator(".frame .disc").count()) === 4);
    for (const refused of [2, 3]) {
      const inside = page.frameLocator(`iframe >> nth=${refused}`);
      assert.equal(await inside.locator("main, header").count(), 0, "no other page is framed");
    }
    await screenshot(page, `framed-${size}`);
    await game.getByRole("button", { name: "First position" }).click();
    await eventually("back to the start", async () => (await game.locator(".frame .disc").count()) === 0);
    await game.getByRole("button", { name: "Step forward" }).click();
    await eventually("a step", async () => (await game.locator(".frame .disc").count()) === 1);

    const [opened] = await Promise.all([context.waitForEvent("page"), game.getByRole("link", { name: "Open in Claimeven" }).click()]);
    await opened.waitForURL(`${server.direct}/game/${id}`);
    await opened.locator(".headline").filter({ hasText: "Red won" }).waitFor();
    await close();
    framer.stop();
  });
}
