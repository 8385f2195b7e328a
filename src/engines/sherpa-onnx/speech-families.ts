/** The kinds of speech model that sherpa-onnx runs and that are offered here: which files each has. */

import type { ModelPaths } from "./families.ts";

interface SpeechFamily {
  /** Roles of the files that it cannot do without. */
  roles: readonly string[];
  /** The part of the configuration that names the files. `data` is the folder espeak-ng-data. */
  configure(paths: ModelPaths): Readonly<Record<string, unknown>>;
}

/** Where a family can do without a file, sherpa-onnx wants to be told nothing rather than undefined. */
function given(files: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

export const SPEECH_FAMILIES = {
  /** As `preparePiperVoice` makes them. */
  piper: {
    roles: ["model", "config", "data"],
    configure: ({ model, tokens, data }) => ({ vits: given({ model, tokens, dataDir: data }) }),
  },
  vits: {
    roles: ["model", "tokens"],
    configure: ({ model, tokens, lexicon, data }) => ({ vits: given({ model, tokens, lexicon, dataDir: data }) }),
  },
  matcha: {
    roles: ["model", "vocoder", "tokens"],
    configure: ({ model, vocoder, tokens, lexicon, data }) => ({
      matcha: given({ acousticModel: model, vocoder, tokens, lexicon, dataDir: data }),
    }),
  },
  kokoro: {
    roles: ["model", "voices", "tokens", "data"],
    configure: ({ model, voices, tokens, lexicon, data }) => ({
      kokoro: given({ model, voices, tokens, lexicon, dataDir: data }),
    }),
  },
  kitten: {
    roles: ["model", "voices", "tokens", "data"],
    configure: ({ model, voices, tokens, data }) => ({ kitten: given({ model, voices, tokens, dataDir: data }) }),
  },
} as const satisfies Record<string, SpeechFamily>;

export type SpeechFamilyName = keyof typeof SPEECH_FAMILIES;

export function isSpeechFamily(name: string | undefined): name is SpeechFamilyName {
  return name !== undefined && Object.hasOwn(SPEECH_FAMILIES, name);
}
