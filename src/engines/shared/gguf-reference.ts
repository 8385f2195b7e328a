/** Settings that select a GGUF file: a built-in model, a local file, or a file on the hub. */

import { z } from "zod";
import type { ModelReference } from "../../contracts/engine.ts";

export const hubFile = z
  .string()
  .regex(/^[^/\s]+\/[^/\s]+\/\S+\.gguf$/, "must have the form owner/repository/file.gguf");

export const ggufReferenceFields = {
  model: z.string().min(1).optional().describe("ID of a built-in model, such as smollm2-135m-instruct"),
  file: z.string().min(1).optional().describe("Path of a GGUF file"),
  hf: hubFile.optional().describe("A GGUF file on the hub, as owner/repository/file.gguf"),
};

type Named = { [Field in keyof typeof ggufReferenceFields]?: string | undefined };

/** Use in a schema's `transform`. Adds an issue unless exactly one is set. */
export function toGgufReference({ model, file, hf }: Named, context: z.RefinementCtx<unknown>): ModelReference {
  const references = [
    ...(model === undefined ? [] : [{ model }]),
    ...(file === undefined ? [] : [{ file }]),
    ...(hf === undefined ? [] : [{ hf }]),
  ] satisfies ModelReference[];
  const [reference] = references;
  if (reference !== undefined && references.length === 1) return reference;
  const message = "needs exactly one of `model`, `file` and `hf`";
  context.issues.push({ code: "custom", input: { model, file, hf }, message });
  return z.NEVER;
}
