/** Entry of the worker thread that compiles grammars. */

import { parentPort } from "node:worker_threads";
import { SchemaError } from "@parlance-inference/json-schema-grammar/errors";
import type { CompileFailure, FromCompiler, ToCompiler } from "./grammar-compiler.ts";
import { writeGrammar } from "./grammar-text.ts";

parentPort?.on("message", ({ id, request }: ToCompiler) => {
  const post = (message: FromCompiler) => parentPort?.postMessage(message);
  try {
    post({ id, text: writeGrammar(request) });
  } catch (error) {
    post({ id, failure: toFailure(error) });
  }
});

function toFailure(error: unknown): CompileFailure {
  if (!(error instanceof SchemaError)) return { message: String(error) };
  const { message, path, code } = error;
  return { message, param: path, code: code === "unsupported" ? "unsupported_value" : "invalid_value" };
}
