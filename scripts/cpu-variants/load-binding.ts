/** Ends with 0 if llama.cpp finds a CPU library that this processor can run. */

import { getLlama, LlamaLogLevel } from "node-llama-cpp";

await getLlama({ gpu: false, build: "never", skipDownload: true, logLevel: LlamaLogLevel.disabled });
process.exit();
