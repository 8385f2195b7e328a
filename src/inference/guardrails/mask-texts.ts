import { Placeholders } from "@parlance-inference/text-privacy/placeholders";
import type { ChannelText } from "./channels.ts";
import type { TextFinder } from "./finders.ts";
import { maskAll } from "./guarded-texts.ts";

/** Returns texts with placeholders in place of what the finders find; equal values have the same one. Throws a Fault. */
export async function maskTexts(
  texts: readonly string[],
  finders: readonly TextFinder[],
  signal: AbortSignal,
): Promise<string[]> {
  const placeholders = new Placeholders();
  for (const text of texts) placeholders.reserve(text);
  let output = [...texts];
  for (const finder of finders) {
    const inputs = output.map((text): ChannelText => ({ text, kind: "prompt" }));
    output = await maskAll(inputs, { finder, placeholders, findings: [], action: "mask", signal });
  }
  return output;
}
