/** `npm run reference`: regenerates parlance.schema.json, docs/reference and the import rules in ARCHITECTURE.md. */

import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fillArchitecture } from "../imports/check-imports.ts";
import { fillReference, publishedSchema } from "./reference.ts";
import { GENERATED_PAGES } from "./reference-pages.ts";

const root = resolve(import.meta.dirname, "../..");
const configuration = resolve(root, "docs/reference/configuration.md");

await writeFile(resolve(root, "parlance.schema.json"), `${JSON.stringify(publishedSchema, undefined, 2)}\n`);
await writeFile(configuration, fillReference(await readFile(configuration, "utf8")));
const architecture = resolve(root, "ARCHITECTURE.md");
await writeFile(architecture, fillArchitecture(await readFile(architecture, "utf8")));
for (const [path, generate] of Object.entries(GENERATED_PAGES)) await writeFile(resolve(root, path), await generate());
