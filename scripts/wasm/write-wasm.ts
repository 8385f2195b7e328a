import { writeFileSync } from "node:fs";
import { compileWasm, TARGET } from "./compile-wasm.ts";

writeFileSync(TARGET, await compileWasm());
