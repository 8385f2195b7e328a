/** Settings that the engines of local English voices share. */

import { z } from "zod";

export const englishSpeechSettings = {
  voices: z
    .record(z.string().min(1), z.string().min(1))
    .default({})
    .describe("Aliases of voices, such as `nova: NAME`. OpenAI's voice names have default aliases"),
  slots: z
    .int()
    .min(1)
    .max(64)
    .default(8)
    .describe("Concurrent requests, which alternate sentence by sentence; more wait"),
  max_input_characters: z.int().min(1).max(1_000_000).default(4096).describe("Maximum characters of a request"),
  language_check: z
    .boolean()
    .default(true)
    .describe(
      "Whether texts that are clearly in another language than the voice are refused. Short texts, names and quotations pass",
    ),
};

interface ConfiguredLimits {
  max_input_characters: number;
  language_check: boolean;
}

/** Names the limits as the code does. */
export function withSpeechLimits<T extends ConfiguredLimits>({
  max_input_characters: maxInputCharacters,
  language_check: checksLanguage,
  ...rest
}: T) {
  return { ...rest, maxInputCharacters, checksLanguage };
}
