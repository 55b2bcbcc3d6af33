// Shared by the browser tests: the real server with a fresh database, Chromium, and a proxy that can be cut.
//
// `npm run e2e` needs the program with the embedded page (CLAIMEVEN_BIN). During development, E2E_DIST=1 serves `web/dist`
// (`npm run build`) in front of any build of the program, so that Rust need not be compiled after every change of the page.
// E2E_FULL=1 takes screenshots of whole pages instead of their first screens.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import net from "node:net";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, test } from "@playwright/test";

const here = path.dirname(fileURLToPath(import.meta.url));
const artefacts = path.join(here, "..", "artefacts");
const binary = process.env.CLAIMEVEN_BIN ?? path.join(here, "..", "..", "target", "debug", "claimeven");

export const DESKTOP = { viewport: { width: 1280, height: 800 } };
export const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };
export const TINY = { viewport: { width: 320, height: 568 }, hasTouch: true, isMobile: true };
export const HUGE = { viewport: { width: 3840, height: 2160 } };
/** A window of 1280 by 800 at 200 % zoom. */
export const ZOOMED = { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 };
const sideways = (width, height) => ({ viewport: { width, height }, hasTouch: true, isMobile: true });
/** Phones in landscape orientation. */
export const SIDEWAYS = sideways(844, 390);
export const SMALL_SIDEWAYS = sideways(667, 375);

export { test };
export const before = test.beforeAll;
export const after = test.afterAll;

/** How long a step may take on the slowest machine. Training yields to everything else that runs there. */
export const PATIENCE = Number(process.env.E2E_PATIENCE ?? 120_000);

/** Starts the server on a free port with a fresh database, with further options. */
export async function startServer(options = []) {
  const folder = mkdtempSync(path.join(tmpdir(), "claimeven-e2e-"));
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  let running = await runServer(base, folder, options);
  const front = process.env.E2E_DIST ? await serveDist(base) : { base, port, stop() {} };
  return {
    base: front.base,
    port: front.port,
    /** The program itself, with its own headers and its embedded page. */
    direct: base,
    /** Stops the server in order, waits, and starts it again with the same database. */
    async restart(ms = 0) {
      await running.stop();
      await pause(ms);
      running = await runServer(base, folder, options);
    },
    async stop() {
      await front.stop();
      await running.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs the program until it answers. */
async function runServer(base, folder, options) {
  const server = spawn(binary, ["serve", "--addr", base.replace("http://", ""), "--database", `sqlite:${path.join(folder, "games.db")}`, ...options], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  for (const stream of [server.stdout, server.stderr]) stream.on("data", (data) => (log += data));
  const ended = new Promise((resolve) => server.once("exit", resolve));
  const deadline = Date.now() + PATIENCE;
  for (;;) {
    const answer = await fetch(`${base}/healthz`).catch(() => null);
    if (answer?.ok) break;
    if (server.exitCode !== null || Date.now() > deadline) throw new Error(`the server did not start:\n${log}`);
    await pause(100);
  }
  return {
    async stop() {
      server.kill("SIGTERM");
      await ended;
    },
  };
}

/** Starts a NATS server that can be killed and started again, or returns null where the program is missing. */
export async function startNats() {
  const program = findNats();
  if (!program) return null;
  const folder = mkdtempSync(path.join(tmpdir(), "claimeven-nats-"));
  const port = await freePort();
  const run = async () => {
    const nats = spawn(program, ["-a", "127.0.0.1", "-p", String(port), "-js", "-sd", folder], { stdio: "ignore" });
    const ended = new Promise((resolve) => nats.once("exit", resolve));
    await eventually("NATS answers", () => new Promise((resolve) => {
      const probe = net.connect(port, "127.0.0.1", () => (probe.destroy(), resolve(true)));
      probe.on("error", () => resolve("no connection"));
    }));
    return async () => {
      nats.kill("SIGKILL");
      await ended;
    };
  };
  let kill = await run();
  return {
    url: `nats://127.0.0.1:${port}`,
    kill: () => kill(),
    async start() {
      kill = await run();
    },
    async stop() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a worker. */
export function startWorker(url, threads = 1) {
  const cache = mkdtempSync(path.join(tmpdir(), "claimeven-worker-"));
  const worker = spawn(binary, ["work", "--nats", url, "--threads", String(threads), "--cache", cache], { stdio: "ignore" });
  const ended = new Promise((resolve) => worker.once("exit", resolve));
  const end = async (signal) => {
    worker.kill(signal);
    await ended;
    rmSync(cache, { recursive: true, force: true });
  };
  return { stop: () => end("SIGTERM"), kill: () => end("SIGKILL") };
}

function findNats() {
  const folders = [...(process.env.PATH ?? "").split(path.delimiter), "/usr/sbin"];
  const given = process.env.CLAIMEVEN_TEST_NATS;
  return given || folders.map((folder) => path.join(folder, "nats-server")).find((file) => existsSync(file));
}

/** Serves the built page in front of a server's API. */
async function serveDist(target) {
  const { preview } = await import("vite");
  const proxy = Object.fromEntries(["/api", "/healthz"].map((path) => [path, { target, ws: true, changeOrigin: false }]));
  const page = await preview({ root: path.join(here, ".."), logLevel: "error", preview: { host: "127.0.0.1", port: await freePort(), proxy } });
  const base = page.resolvedUrls.local[0].replace(/\/$/, "").replace("localhost", "127.0.0.1");
  return { base, port: Number(new URL(base).port), stop: () => page.close() };
}

/** The maximum processor time of a task on the page, in milliseconds. */
const LONG_TASK = 100;

/** Starts the system's Chromium. A console error, an uncaught error or a failed request on any page fails the test, and with
    `smooth` so does a task of more than 100 ms after the first click or key. */
export async function startBrowser({ smooth = false } = {}) {
  const browser = await chromium.launch({
    executablePath: findChromium(),
    args: [
      "--headless=new",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  return {
    /** Opens a page as a new visitor. */
    async visit(address, options = DESKTOP, { mayFail = /$^/ } = {}) {
      const context = await browser.newContext({ reducedMotion: "reduce", ...options });
      context.setDefaultTimeout(PATIENCE);
      const errors = [];
      const note = (text) => mayFail.test(text) || errors.push(text);
      const watch = (page) => {
        page.on("pageerror", (error) => note(`not caught: ${error.message}`));
        page.on("console", (message) => message.type() === "error" && note(message.text()));
        // A request that the page aborts, or that a navigation ends, has not failed.
        page.on("requestfailed", (request) => request.failure()?.errorText !== "net::ERR_ABORTED" && note(`${request.url()}: ${request.failure()?.errorText}`));
        page.on("response", (response) => response.status() >= 400 && note(`${response.url()}: ${response.status()}`));
        return page;
      };
      const page = watch(await context.newPage());
      const tasks = smooth ? await watchTasks(browser, context) : null;
      let rate = 1;
      const slow = async (factor) => {
        rate = factor;
        if (factor !== 1) await (await context.newCDPSession(page)).send("Emulation.setCPUThrottlingRate", { rate: factor });
      };
      await page.goto(address);
      const close = async () => {
        const long = (await tasks?.longer(LONG_TASK * rate)) ?? [];
        await context.close();
        assert.deepEqual(errors, [], "the page's errors");
        if (long.length > 0) throw new LongTasks(`tasks over ${LONG_TASK * rate} ms: ${long.join(", ")}`);
      };
      return { page, context, watch, slow, close };
    },
    stop: () => browser.close(),
  };
}

class LongTasks extends Error {}

/** A test on pages of a browser that is `smooth`. Processor time does not include waiting for other programs, but a core that is
    shared is slower, and a page that is slowed down also waits by the clock. So tasks are too long only if they are in three runs
    of the test; any other error fails it at once. */
export function smoothTest(title, body) {
  test(title, async () => {
    for (let run = 1; ; run++) {
      try {
        return await body();
      } catch (error) {
        if (!(error instanceof LongTasks) || run === 3) throw error;
        console.log(`${error.message}; measured again`);
      }
    }
  });
}

/** Measures the tasks of a context's pages by the processor time of their thread. */
async function watchTasks(browser, context) {
  await context.addInitScript(() => {
    const begin = () => performance.mark("first-action");
    for (const type of ["pointerdown", "keydown"]) addEventListener(type, begin, { capture: true, once: true });
  });
  const session = await browser.newBrowserCDPSession();
  const events = [];
  session.on("Tracing.dataCollected", ({ value }) => {
    for (const event of value) {
      const task = event.name === "RunTask" || event.name === "ThreadControllerImpl::RunTask";
      if ((task && (event.tdur ?? event.dur ?? 0) > 20_000) || event.name === "first-action") events.push(event);
    }
  });
  const complete = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
  const categories = ["blink.user_timing", "toplevel", "disabled-by-default-devtools.timeline"];
  await session.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: categories, excludedCategories: ["*"] } });
  return {
    async longer(bound) {
      await session.send("Tracing.end");
      await complete;
      await session.detach();
      const begun = new Map();
      for (const { name, pid, ts } of events) if (name === "first-action") begun.set(pid, Math.min(ts, begun.get(pid) ?? ts));
      const play = events.filter(({ name, pid, ts }) => name !== "first-action" && begun.has(pid) && ts >= begun.get(pid));
      if (process.env.E2E_TASKS) console.log(play.map(({ tdur, dur, name }) => `${name} ${tdur / 1000} of ${dur / 1000}`));
      return play.filter(({ tdur }) => tdur / 1000 > bound).map(({ tdur, dur }) => `${(tdur / 1000).toFixed()} ms (${(dur / 1000).toFixed()} ms by the clock)`);
    },
  };
}

/** A proxy to the server that can be cut and restored. */
export async function startProxy(port) {
  const sockets = new Set();
  let open = true;
  const proxy = net.createServer((client) => {
    if (!open) return client.destroy();
    const server = net.connect(port, "127.0.0.1");
    for (const [from, to] of [[client, server], [server, client]]) {
      sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    base: `http://127.0.0.1:${proxy.address().port}`,
    cut() {
      open = false;
      for (const socket of sockets) socket.destroy();
    },
    mend: () => (open = true),
    stop: () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}

export async function screenshot(page, name) {
  mkdirSync(artefacts, { recursive: true });
  await page.screenshot({ path: path.join(artefacts, `${name}.png`), fullPage: !!process.env.E2E_FULL });
}

/** Fails with the accessibility problems that axe finds on the page. */
export async function checkAccess(page, where) {
  const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
  const source = await readFile(axe, "utf8");
  await page.evaluate(source);
  const found = await page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.target} (${node.failureSummary})`).join("; ")}`);
  });
  assert.deepEqual(found, [], `axe on ${where}`);
}

/** Fails if the page is wider than the window. */
export async function checkWidth(page, where) {
  const [inner, scroll] = await page.evaluate(() => [document.documentElement.clientWidth, document.documentElement.scrollWidth]);
  assert.ok(scroll <= inner, `${where} is ${scroll} wide in a window of ${inner}`);
}

/** Waits until a condition holds; the error says what was there instead. */
export async function eventually(what, check) {
  const deadline = Date.now() + PATIENCE;
  let last;
  do {
    try {
      last = await check();
      if (last === true) return;
    } catch (error) {
      last = error;
    }
    await pause(50);
  } while (Date.now() < deadline);
  assert.fail(`${what}: ${last instanceof Error ? last.message : JSON.stringify(last)}`);
}

export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

// Elements of the game page.

/** The number of discs on the board. */
export const discs = (page) => page.locator(".frame .disc").count().then(async (all) => all - (await page.locator(".frame .waiting .disc").count()));
export const column = (page, number) => page.locator(`[data-column="${number}"]`);
export const moves = (page) => page.locator("[data-ply]").count();
export const headline = (page) => page.locator(".headline").textContent();
export const gameOf = async (page) => {
  const id = new URL(page.url()).pathname.split("/").at(-1);
  return page.evaluate((id) => fetch(`/api/games/${id}`).then((answer) => answer.json()), id);
};

/** The last announcement to screen readers. */
export const announced = (page) => page.locator('[role="status"][aria-live]').first().textContent();
export const clickColumn = (page, number) => column(page, number).click();

/** Waits for the user's turn, or the end. */
export const untilYourTurn = (page) => eventually("it is your turn", async () => /Your turn|won|lost|Draw/.test(await headline(page)) || (await headline(page)));

/** Waits for the user's turn. */
export async function yourTurn(page) {
  await eventually("it is your turn", async () => (await headline(page)) === "Your turn" || (await headline(page)));
}

// Set-up steps, done through the page alone.

/** Drops discs for both sides of a local game, each when the previous one is on the board. */
export async function playMoves(page, columns) {
  const begun = await moves(page);
  for (const [index, number] of columns.entries()) {
    await clickColumn(page, number);
    await eventually(`move ${index + 1} is made`, async () => (await moves(page)) === begun + index + 1 || (await moves(page)));
    // Wait until the server has accepted the move.
    if (index + 1 < columns.length) await page.locator("[data-column].open").first().waitFor();
  }
}

/** Plays a local game with these moves on any board and returns its id. */
export async function localGame(page, base, columns, { cols = 7, rows = 6, connect = 4, ruleset = "standard" } = {}) {
  await page.goto(`${base}/new?kind=two`);
  await page.getByLabel("Columns", { exact: true }).fill(String(cols));
  await page.getByLabel("Rows", { exact: true }).fill(String(rows));
  await page.getByLabel("Connect", { exact: true }).fill(String(connect));
  if (ruleset === "lines") await page.getByRole("radio", { name: "Most lines" }).check();
  await page.getByRole("button", { name: "Start game" }).click();
  await page.waitForURL(/\/game\//);
  await playMoves(page, columns);
  return new URL(page.url()).pathname.split("/").at(-1);
}

/** A game against a level that starts in a column and is resigned at once. */
export async function resignedGame(page, base, level, number) {
  await page.goto(base);
  await page.getByRole("slider", { name: /Level/ }).fill(String(level));
  await clickColumn(page, number);
  await page.waitForURL(/\/game\//);
  await yourTurn(page);
  await page.getByRole("button", { name: "Resign", exact: true }).click();
  await page.getByRole("button", { name: "Resign now?" }).click();
  await eventually("the game is lost", async () => (await headline(page)) === "You lost" || (await headline(page)));
}

function findChromium() {
  const given = process.env.CHROMIUM;
  if (given) return given;
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    const found = folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file));
    if (found) return found;
  }
  throw new Error("no Chromium on the PATH (chromium, chromium-browser or google-chrome), and CHROMIUM is not set");
}

async function freePort() {
  const probe = net.createServer();
  await new Promise((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
