import { Placeholders } from "@parlance-inference/text-privacy/placeholders";
import type { TextFinder } from "./finders.ts";
import { maskOne } from "./guarded-texts.ts";

/** Returns texts with placeholders in place of what the finders find; equal values have the same one. Throws a Fault. */
export async function maskTexts(
  texts: readonly string[],
  finders: readonly TextFinder[],
  signal: AbortSignal,
): Promise<string[]> {
  const placeholders = new Placeholders();
  for (const text of texts) placeholders.reserve(text);
  const output = [...texts];
  for (const finder of finders) {
    for (const [index, text] of output.entries()) {
      output[index] = await maskOne(text, { finder, placeholders, findings: [], action: "mask", signal });
    }
  }
  return output;
}
