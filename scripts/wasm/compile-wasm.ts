/** Compiles the WebAssembly text of the JSON scanner. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import wabt from "wabt";

const FOLDER = resolve(import.meta.dirname, "../../src/kernel/json");
const SOURCE = resolve(FOLDER, "scan-json.wat");

/** Module that holds the compiled scanner, so that bundles contain it. */
export const TARGET: string = resolve(FOLDER, "scan-json-wasm.ts");

/** Returns the text of the module. */
export async function compileWasm(): Promise<string> {
  const compiler = await wabt();
  const module = compiler.parseWat("scan-json.wat", readFileSync(SOURCE, "utf8"), { simd: true, bulk_memory: true });
  module.validate();
  const binary = Buffer.from(module.toBinary({}).buffer).toString("base64");
  const lines = binary.match(/.{1,100}/g)?.map((line) => `  "${line}",`) ?? [];
  return `/** scan-json.wat, compiled by \`npm run wasm\`. */\nexport const SCAN_JSON_WASM: string = [\n${lines.join("\n")}\n].join("");\n`;
}
