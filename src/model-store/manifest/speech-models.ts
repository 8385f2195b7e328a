/** The speech models of the manifest. A file's name is its role in the engine. */

import { kokoroModels } from "./kokoro-models.ts";
import type { ManifestEntry, ManifestFile } from "./manifest-entry.ts";

/** The package contains a voice and everything to read English text without espeak-ng. */
function hibariFile(name: string, asset: string, bytes: number, sha256: string): ManifestFile {
  const path = `hibari/assets/${asset}`;
  return { name, bytes, sha256, sources: [{ source: "pypi", package: "hibari-tts", version: "0.2.1", path }] };
}

/** Voices that the package downloads itself, by the hashes in it. */
function hibariVoice(voice: string, asset: string, bytes: number, sha256: string): ManifestFile {
  return {
    name: `voice-${voice}.onnx`,
    bytes,
    sha256,
    sources: [
      { source: "hugging-face", repository: "maureesewilliams/hibari", revision: "main", path: `voices/${asset}` },
    ],
  };
}

const HEART = hibariFile(
  "voice-heart.onnx",
  "hibari.onnx",
  7_936_868,
  "5f70741d4e900f4e85d0037498736cc1b3e1b9a63a13546a5da1e63abf4fccd8",
);

const ENGLISH: readonly ManifestFile[] = [
  hibariFile(
    "vocabulary.json",
    "vocab.json",
    1_144,
    "70abefbe8a1c8865e43e0a43bbdc25b91a33e4aa053479d443ccf23e20a59e5d",
  ),
  hibariFile(
    "dictionary-checked.json.gz",
    "lexicon_us_gold.json.gz",
    719_352,
    "63ae94f8ef0e906d5b24fe9b59ffcbd1529aca5686a774610e43973cbaa86ad2",
  ),
  hibariFile(
    "dictionary-guessed.json.gz",
    "lexicon_us_silver.json.gz",
    682_530,
    "c4c2546ebf1eb07010331e7ef785a431aa17ba8e7bfb6b4af8d654ee96a71fd3",
  ),
  hibariFile(
    "tagger.json.gz",
    "tagger.json.gz",
    1_240_667,
    "d2da7502284bbbe45d49e0b7ce3ce67bdab82254150f4317f1b8559b4d38d0eb",
  ),
  hibariFile(
    "spelling.json",
    "normalize.json",
    6_769,
    "d478ff05404bc43ac3e0468e306674e51085f1b1afc94cdef7c7ea4fb0d56bd8",
  ),
  hibariFile(
    "unknown-words.onnx",
    "oov.onnx",
    2_975_020,
    "d3cfd8122c5f172a98c8de38268bf1213ee09f2c2ae4df6e055fc6532590fe76",
  ),
  hibariFile(
    "unknown-words.json",
    "oov.json",
    2_273,
    "b462e6e5dbdf0e7346c732385d0dd844f612f1770871441c56932bff4ca75d8c",
  ),
];

export const SPEECH_MODELS: readonly ManifestEntry[] = [
  {
    id: "hibari",
    task: "speech",
    engine: "kokoro",
    isDefault: true,
    fallbacks: ["flite"],
    license: "Apache-2.0",
    description: "Very small (14 MB): one natural American voice, many times faster than real time on any machine",
    languages: "English",
    files: [HEART, ...ENGLISH],
  },
  {
    id: "hibari-3-voices",
    task: "speech",
    engine: "kokoro",
    isDefault: false,
    license: "Apache-2.0",
    description: "Very small (30 MB): hibari with a second female and a male voice",
    languages: "English",
    files: [
      HEART,
      hibariVoice(
        "kore",
        "af_kore.int8.onnx",
        7_936_868,
        "346885752673e45d42f9864c9e2432094bc4b6385df060d4b83273da764d2fa9",
      ),
      hibariVoice(
        "fenrir",
        "am_fenrir_v2.int8.onnx",
        8_031_158,
        "f59fbd87908c91f827bc21b1b89443757b9a8580db9eee20aa948deb731321f4",
      ),
      ...ENGLISH,
    ],
  },
  ...kokoroModels(ENGLISH),
];
