// Browser tests: whole journeys against the real program in the system's Chromium.

import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: "e2e",
  testMatch: "*.test.mjs",
  // Each file starts its own server, so two files can run in parallel.
  workers: Number(process.env.E2E_WORKERS ?? 1),
  timeout: 180_000,
  forbidOnly: true,
  reporter: "list",
  outputDir: "artefacts/results",
});
