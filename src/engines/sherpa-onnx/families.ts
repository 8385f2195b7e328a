/** The kinds of speech recognition model that sherpa-onnx runs and that are offered here: which files each has. */

import type { OfflineModelConfig } from "./load-sherpa-onnx.ts";

export type ModelPaths = Readonly<Record<string, string>>;

export interface Family {
  /** Roles of the files that it cannot do without, besides `tokens` and `vad`. */
  roles: readonly string[];
  /** The part of the recognizer's configuration that names the files. */
  configure(paths: ModelPaths, language: string, translate: boolean): OfflineModelConfig;
  /** Whether the language is set for each piece. */
  takesLanguage: boolean;
  translates: boolean;
}

const onlyModel = ["model"];
const transducer = ["encoder", "decoder", "joiner"];

function fixed(roles: readonly string[], configure: (paths: ModelPaths) => OfflineModelConfig): Family {
  return { roles, configure, takesLanguage: false, translates: false };
}

export const FAMILIES = {
  moonshine: fixed(["encoder", "decoder"], ({ encoder, decoder }) => ({
    moonshine: { encoder, mergedDecoder: decoder },
  })),
  whisper: {
    roles: ["encoder", "decoder"],
    configure: ({ encoder, decoder }, language, translate) => ({
      // An empty language lets the model find out.
      whisper: { encoder, decoder, language, task: translate ? "translate" : "transcribe", tailPaddings: -1 },
    }),
    takesLanguage: true,
    translates: true,
  },
  transducer: fixed(transducer, ({ encoder, decoder, joiner }) => ({ transducer: { encoder, decoder, joiner } })),
  "nemo-transducer": fixed(transducer, ({ encoder, decoder, joiner }) => ({
    transducer: { encoder, decoder, joiner },
    modelType: "nemo_transducer",
  })),
  "nemo-ctc": fixed(onlyModel, ({ model }) => ({ nemoCtc: { model } })),
  "zipformer-ctc": fixed(onlyModel, ({ model }) => ({ zipformerCtc: { model } })),
  paraformer: fixed(onlyModel, ({ model }) => ({ paraformer: { model } })),
  "sense-voice": {
    roles: onlyModel,
    configure: ({ model }, language) => ({ senseVoice: { model, language, useInverseTextNormalization: 1 } }),
    takesLanguage: true,
    translates: false,
  },
} as const satisfies Record<string, Family>;

export type FamilyName = keyof typeof FAMILIES;
