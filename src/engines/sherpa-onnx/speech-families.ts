/** The supported speech synthesis architectures of sherpa-onnx and the files that each needs. */

import type { ModelPaths } from "./families.ts";

interface SpeechFamily {
  /** Roles of the required files. */
  roles: readonly string[];
  /** Returns the part of the configuration that names the files. `data` is the folder espeak-ng-data. */
  configure(paths: ModelPaths): Readonly<Record<string, unknown>>;
}

/** Leaves out optional files that are not set, because sherpa-onnx does not accept undefined. */
function withoutUndefined(files: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

export const SPEECH_FAMILIES = {
  /** Takes the files that `preparePiperVoice` makes. */
  piper: {
    roles: ["model", "config", "data"],
    configure: ({ model, tokens, data }) => ({ vits: withoutUndefined({ model, tokens, dataDir: data }) }),
  },
  vits: {
    roles: ["model", "tokens"],
    configure: ({ model, tokens, lexicon, data }) => ({
      vits: withoutUndefined({ model, tokens, lexicon, dataDir: data }),
    }),
  },
  matcha: {
    roles: ["model", "vocoder", "tokens"],
    configure: ({ model, vocoder, tokens, lexicon, data }) => ({
      matcha: withoutUndefined({ acousticModel: model, vocoder, tokens, lexicon, dataDir: data }),
    }),
  },
  kokoro: {
    roles: ["model", "voices", "tokens", "data"],
    configure: ({ model, voices, tokens, lexicon, data }) => ({
      kokoro: withoutUndefined({ model, voices, tokens, lexicon, dataDir: data }),
    }),
  },
  kitten: {
    roles: ["model", "voices", "tokens", "data"],
    configure: ({ model, voices, tokens, data }) => ({
      kitten: withoutUndefined({ model, voices, tokens, dataDir: data }),
    }),
  },
} as const satisfies Record<string, SpeechFamily>;

export type SpeechFamilyName = keyof typeof SPEECH_FAMILIES;

export function isSpeechFamily(name: string | undefined): name is SpeechFamilyName {
  return name !== undefined && Object.hasOwn(SPEECH_FAMILIES, name);
}
