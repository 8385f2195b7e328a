/** The supported speech recognition architectures of sherpa-onnx and the files that each needs. */

import type { OfflineModelConfig } from "./load-sherpa-onnx.ts";

export type ModelPaths = Readonly<Record<string, string>>;

export interface Family {
  /** Roles of the required files in addition to `tokens` and `vad`. */
  roles: readonly string[];
  /** Returns the part of the recognizer's configuration that names the files. `translate`: into English. */
  configure(paths: ModelPaths, language: string, translate: boolean): OfflineModelConfig;
  /** Whether the language is set for each segment. */
  takesLanguage: boolean;
  /** ISO 639 codes that every model of the family supports; undefined where models differ. */
  languages: readonly string[] | undefined;
  translates: boolean;
}

const onlyModel = ["model"];
const transducer = ["encoder", "decoder", "joiner"];

function fixed(roles: readonly string[], configure: (paths: ModelPaths) => OfflineModelConfig): Family {
  return { roles, configure, takesLanguage: false, languages: undefined, translates: false };
}

/** Language codes in the order of Whisper's tokens. */
const WHISPER_LANGUAGES = (
  "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml " +
  "cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am " +
  "yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su"
).split(" ");

export const FAMILIES = {
  moonshine: fixed(["encoder", "decoder"], ({ encoder, decoder }) => ({
    moonshine: { encoder, mergedDecoder: decoder },
  })),
  whisper: {
    roles: ["encoder", "decoder"],
    configure: ({ encoder, decoder }, language, translate) => ({
      // The model detects an empty language.
      whisper: { encoder, decoder, language, task: translate ? "translate" : "transcribe", tailPaddings: -1 },
    }),
    takesLanguage: true,
    languages: WHISPER_LANGUAGES,
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
    languages: ["zh", "en", "ja", "ko", "yue"],
    translates: false,
  },
} as const satisfies Record<string, Family>;

export type FamilyName = keyof typeof FAMILIES;
