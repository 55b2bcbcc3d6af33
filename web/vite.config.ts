import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

/** Where the development server finds the real one. */
const server = process.env.CLAIMEVEN_SERVER ?? "http://127.0.0.1:8080";

export default defineConfig({
  plugins: [svelte()],
  build: {
    // The page's policy allows nothing inline, so no file may become a data address.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The colours of both themes are one `light-dark()` each, which older targets would have rewritten.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
  },
  // The server compares the origin of a request with its host, so the browser's host is kept.
  server: { proxy: { "/api": { target: server, ws: true, changeOrigin: false } } },
  // Pure functions need no walls between their tests, and start much sooner without.
  test: { include: ["src/**/*.test.ts"], pool: "threads", isolate: false },
});
