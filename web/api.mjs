// Makes `src/lib/api.ts`, the types of the server's JSON, from its OpenAPI document. With `--check` it only says whether they agree.

import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const from = new URL("../crates/claimeven-server/openapi.json", import.meta.url);
const to = new URL("src/lib/api.ts", import.meta.url);

const document = JSON.parse(await readFile(from, "utf8"));
// Which address has which shape is said in `server.ts`; the page needs the shapes.
const types = await openapiTS({ ...document, paths: {} }, { rootTypes: true, rootTypesNoSchemaPrefix: true, silent: true });
const text = `// Made by \`npm run api\` from the server's openapi.json. Do not edit.\n\n${astToString(types)}`;

if (!process.argv.includes("--check")) await writeFile(to, text);
else if ((await readFile(to, "utf8").catch(() => "")) !== text) {
  console.error("src/lib/api.ts does not match crates/claimeven-server/openapi.json: run `npm run api`.");
  process.exit(1);
}
