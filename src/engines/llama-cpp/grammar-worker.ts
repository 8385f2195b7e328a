/** Entry of the thread that makes grammars. */

import { parentPort } from "node:worker_threads";
import { encodeFailure } from "../host/messages.ts";
import type { FromCompiler, ToCompiler } from "./grammar-compiler.ts";
import { grammarTextOf } from "./grammar-text.ts";

parentPort?.on("message", ({ id, wanted }: ToCompiler) => {
  const answer = (message: FromCompiler) => parentPort?.postMessage(message);
  try {
    answer({ id, text: grammarTextOf(wanted) });
  } catch (failure) {
    answer({ id, failure: encodeFailure(failure) });
  }
});
