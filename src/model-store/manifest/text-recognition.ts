/** The model that reads the text of scans and images. */

import type { ManifestEntry, ManifestFile } from "./manifest-entry.ts";

function network(role: string, name: string, bytes: number, sha256: string): ManifestFile {
  const path = `rapidocr/models/${name}`;
  return {
    name: `${role}.onnx`,
    bytes,
    sha256,
    sources: [{ source: "pypi", package: "rapidocr", version: "3.10.0", path }],
  };
}

export const TEXT_RECOGNITION: ManifestEntry = {
  id: "pp-ocrv6-small",
  task: "chat",
  engine: "llama-cpp",
  isComponent: true,
  isDefault: false,
  license: "Apache-2.0",
  description: "Text recognition (31 MB) for scans and images in requests and stores: no model by itself",
  languages: "Chinese, Japanese, and languages in Latin letters",
  files: [
    network(
      "detector",
      "PP-OCRv6_det_small.onnx",
      9_929_594,
      "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
    ),
    network(
      "recognizer",
      "PP-OCRv6_rec_small.onnx",
      21_234_383,
      "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
    ),
  ],
};
