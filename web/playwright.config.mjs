// Browser tests: whole journeys against the real program in the system's Chromium.

import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: "e2e",
  testMatch: "*.test.mjs",
  // Each file starts its own server, so two files can run in parallel: while one waits, the other works.
  workers: Number(process.env.E2E_WORKERS ?? 2),
  timeout: 600_000,
  forbidOnly: true,
  reporter: "list",
  outputDir: "artefacts/results",
});
