/** Compiles the WebAssembly text of the service. */

import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import wabt from "wabt";

const ROOT = resolve(import.meta.dirname, "../../src");

export interface WasmModule {
  source: string;
  /** Module that holds the compiled one, so that bundles contain it. */
  target: string;
  constant: string;
}

export const WASM_MODULES: readonly WasmModule[] = [
  {
    source: resolve(ROOT, "kernel/json/scan-json.wat"),
    target: resolve(ROOT, "kernel/json/scan-json-wasm.ts"),
    constant: "SCAN_JSON_WASM",
  },
  {
    source: resolve(ROOT, "features/vector-stores/index/distances.wat"),
    target: resolve(ROOT, "features/vector-stores/index/distances-wasm.ts"),
    constant: "DISTANCES_WASM",
  },
];

/** Returns the text of the module. */
export async function compileWasm({ source, constant }: WasmModule): Promise<string> {
  const compiler = await wabt();
  const name = basename(source);
  const module = compiler.parseWat(name, readFileSync(source, "utf8"), { simd: true, bulk_memory: true });
  module.validate();
  const binary = Buffer.from(module.toBinary({}).buffer).toString("base64");
  const lines = binary.match(/.{1,100}/g)?.map((line) => `  "${line}",`) ?? [];
  return `/** ${name}, compiled by \`npm run wasm\`. */\nexport const ${constant}: string = [\n${lines.join("\n")}\n].join("");\n`;
}
