/** `npm run reference`: brings parlance.schema.json and docs/configuration.md up to date with the schemas. */

import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fillReference, publishedSchema } from "./reference.ts";

const root = resolve(import.meta.dirname, "..");
const documentation = resolve(root, "docs/configuration.md");

await writeFile(resolve(root, "parlance.schema.json"), `${JSON.stringify(publishedSchema, undefined, 2)}\n`);
await writeFile(documentation, fillReference(await readFile(documentation, "utf8")));
