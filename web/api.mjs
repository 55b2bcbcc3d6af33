// Generates `src/lib/api.ts`, the types of the server's JSON, from its OpenAPI document. With `--check` it only reports whether
// the file is up to date.

import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const from = new URL("../crates/claimeven-server/openapi.json", import.meta.url);
const to = new URL("src/lib/api.ts", import.meta.url);

const document = JSON.parse(await readFile(from, "utf8"));
// Only the schemas; `server.ts` knows which route uses which.
const types = await openapiTS({ ...document, paths: {} }, { rootTypes: true, rootTypesNoSchemaPrefix: true, silent: true });
const text = `// Made by \`npm run api\` from the server's openapi.json. Do not edit.\n\n${astToString(types)}`;

if (!process.argv.includes("--check")) await writeFile(to, text);
else if ((await readFile(to, "utf8").catch(() => "")) !== text) {
  console.error("src/lib/api.ts does not match crates/claimeven-server/openapi.json: run `npm run api`.");
  process.exit(1);
}
