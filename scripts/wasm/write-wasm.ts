import { writeFileSync } from "node:fs";
import { compileWasm, WASM_MODULES } from "./compile-wasm.ts";

for (const module of WASM_MODULES) writeFileSync(module.target, await compileWasm(module));
