import { PIPER_PREFIX, parsePiperName } from "../kernel/piper-name.ts";
import type { WantedModel } from "./wanted-model.ts";

const REPOSITORY = "rhasspy/piper-voices";
const REVISION = "main";

/** The network of a voice of Piper and its settings, in the hub's repository of voices. Throws a Fault. */
export function fromPiper(name: string): WantedModel {
  const { language, code, voice, quality } = parsePiperName(name);
  const folder = `${language}/${code}/${voice}/${quality}`;
  return {
    id: `${PIPER_PREFIX}${name}`,
    folder: `piper/${name}`,
    task: "speech",
    license: undefined,
    files: [`${name}.onnx`, `${name}.onnx.json`].map((file) => ({
      name: file,
      sources: [{ source: "hugging-face", repository: REPOSITORY, revision: REVISION, path: `${folder}/${file}` }],
    })),
  };
}
