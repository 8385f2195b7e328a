/**
 * `npm run operations`: counts which operations of OpenAI's document and of its SDK this service has, and prints those
 * that are missing. `--document FILE` reads a newer document, `--write` stores its list, `--sdk FOLDER` reads an
 * unpacked `openai` package other than the installed one.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { listOperations } from "../reference/list-operations.ts";
import { compareOperations } from "./compare-operations.ts";
import { type DocumentedOperations, LISTED_DOCUMENT, readDocument } from "./openai-document.ts";
import { readSdk } from "./sdk-operations.ts";

const { values } = parseArgs({
  options: { document: { type: "string" }, sdk: { type: "string" }, write: { type: "boolean", default: false } },
});

const listed = () => JSON.parse(readFileSync(LISTED_DOCUMENT, "utf8")) as DocumentedOperations;
const document = values.document === undefined ? listed() : readDocument(values.document);
if (values.write) writeFileSync(LISTED_DOCUMENT, `${JSON.stringify(document, undefined, 2)}\n`);
const sdk = readSdk(values.sdk ?? resolve(import.meta.dirname, "../../node_modules/openai"));

const served = (await listOperations()).map(({ method, path }) => `${method.toUpperCase()} ${path}`);
print(`OpenAI's document ${document.version}`, document.operations);
print(`openai ${sdk.version} for JavaScript`, sdk.operations);

function print(source: string, wanted: readonly string[]): void {
  const { present, missing } = compareOperations(served, wanted);
  console.log(`${source}: ${present} of ${wanted.length} operations. Missing:`);
  for (const operation of missing) console.log(`  ${operation}`);
}
