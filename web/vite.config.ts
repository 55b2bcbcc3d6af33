import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** The server that the development server forwards API calls to. */
const server = process.env.CLAIMEVEN_SERVER ?? "http://127.0.0.1:8080";

/** Writes compressed copies of each text file next to it, which the server sends as they are. */
const compress: Plugin = {
  name: "compress",
  apply: "build",
  // Other plugins change the files until they are written.
  writeBundle({ dir = "dist" }, bundle) {
    for (const name of Object.keys(bundle).filter((name) => /\.(css|js|svg|json)$/.test(name))) {
      const file = path.join(dir, name);
      const plain = readFileSync(file);
      const copies = { br: brotliCompressSync(plain), gz: gzipSync(plain, { level: 9 }) };
      for (const [ending, small] of Object.entries(copies)) {
        if (small.length < plain.length) writeFileSync(`${file}.${ending}`, small);
      }
    }
  },
};

export default defineConfig({
  plugins: [svelte(), compress],
  build: {
    // The content security policy forbids data URLs, so no file may be inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The colours of both themes use `light-dark()`, which would be rewritten for older targets.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
  },
  // The server compares the origin of a request with its host, so the browser's host is kept.
  server: { proxy: { "/api": { target: server, ws: true, changeOrigin: false } } },
  // Tests of pure functions need no isolation, and start much faster without it.
  test: { include: ["src/**/*.test.ts"], pool: "threads", isolate: false },
});
