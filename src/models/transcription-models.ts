/** The models that turn speech to text, for the manifest. A file's name begins with its role in the engine. */

import type { ManifestEntry, ManifestFile } from "./manifest.ts";

const VOICE_ACTIVITY: ManifestFile = {
  name: "vad.onnx",
  bytes: 2_327_524,
  sha256: "2623a2953f6ff3d2c1e61740c6cdb7168133479b267dfef114a4a3cc5bdd788f",
  sources: [
    {
      source: "npm",
      package: "@ricky0123/vad-web",
      version: "0.0.31",
      path: "dist/silero_vad_v5.onnx",
    },
  ],
};

/** Moonshine's packages come without its tokens; the vocabulary is Llama's. */
const TOKENIZER: ManifestFile = {
  name: "tokenizer.js",
  bytes: 676_487,
  sha256: "34a7b9f7579d40486444590c37cba6564ef40c3dd98ecdfc2f7c886ae72c898d",
  sources: [{ source: "npm", package: "llama-tokenizer-js", version: "1.2.2", path: "llama-tokenizer.js" }],
};

/** Later versions of the package bring a model under another licence. */
function moonshineFile(size: string, part: string, name: string, bytes: number, sha256: string): ManifestFile {
  const path = `dist/model/${size}/quantized/${part}.onnx`;
  return {
    name,
    bytes,
    sha256,
    sources: [{ source: "npm", package: "@usefulsensors/moonshine-js", version: "0.1.10", path }],
  };
}

function whisperFile(size: string, part: string, ending: string): ManifestFile {
  return {
    name: `${part}${ending.slice(ending.lastIndexOf("."))}`,
    sources: [
      {
        source: "hugging-face",
        repository: `csukuangfj/sherpa-onnx-whisper-${size}`,
        revision: "main",
        path: `${size}-${part}${ending}`,
      },
    ],
  };
}

function whisper(size: string, description: string): ManifestEntry {
  return {
    id: `whisper-${size}`,
    task: "transcription",
    engine: "sherpa-onnx",
    isDefault: false,
    licence: "MIT",
    description,
    engineSettings: { family: "whisper" },
    files: [
      whisperFile(size, "encoder", ".int8.onnx"),
      whisperFile(size, "decoder", ".int8.onnx"),
      whisperFile(size, "tokens", ".txt"),
      VOICE_ACTIVITY,
    ],
  };
}

export const TRANSCRIPTION_MODELS: readonly ManifestEntry[] = [
  {
    id: "moonshine-base-en",
    task: "transcription",
    engine: "sherpa-onnx",
    isDefault: true,
    licence: "MIT",
    description: "English (66 MB): a minute of speech in about four seconds on two cores",
    engineSettings: { family: "moonshine", languages: ["en"] },
    files: [
      moonshineFile(
        "base",
        "encoder_model",
        "encoder.onnx",
        20_513_063,
        "1dd9ab0a7f987113d30affcba5a068d11c8f90fa0223caa3e491ade431ad9751",
      ),
      moonshineFile(
        "base",
        "decoder_model_merged",
        "decoder.onnx",
        42_498_870,
        "cc9f3cd6698a369c6008b41aa60aa3fb3322e7f03c9bdf19d8e6b7200afca4f3",
      ),
      TOKENIZER,
      VOICE_ACTIVITY,
    ],
  },
  {
    id: "moonshine-tiny-en",
    task: "transcription",
    engine: "sherpa-onnx",
    isDefault: false,
    licence: "MIT",
    description: "English (31 MB): twice as fast as base, with more mistakes",
    engineSettings: { family: "moonshine", languages: ["en"] },
    files: [
      moonshineFile(
        "tiny",
        "encoder_model",
        "encoder.onnx",
        7_937_661,
        "c6fc4b7bc5af75c0591fd157a1f3829b533d18e9769a888fd95a62e470dd4f4a",
      ),
      moonshineFile(
        "tiny",
        "decoder_model_merged",
        "decoder.onnx",
        20_243_286,
        "eed87831c3a6103534aae7d47a5d485025c659a1323901513961c39fe8a1a367",
      ),
      TOKENIZER,
      VOICE_ACTIVITY,
    ],
  },
  whisper("tiny", "Many languages, and into English (0.1 GB): quick, with many mistakes"),
  whisper("base", "Many languages, and into English (0.2 GB)"),
  whisper("small", "Many languages, and into English (0.4 GB): good for the widely spoken ones"),
  whisper("turbo", "Many languages (1.0 GB): large-v3-turbo, the best of these"),
];
