/**
 * A voice as Piper publishes it: an ONNX file with a JSON file of settings. sherpa-onnx needs the settings
 * inside the ONNX file and the phonemes as a tokens file.
 */

import { appendFile, copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PbfWriter } from "pbf";
import { z } from "zod";
import { invalidRequest } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import type { ModelPaths } from "./families.ts";

const PiperSettings = lazy.looseObject(() => ({
  audio: z.looseObject({ sample_rate: z.int().positive() }),
  espeak: z.looseObject({ voice: z.string() }),
  /** `text` for voices that read letters instead of phonemes. */
  phoneme_type: z.literal("espeak").default("espeak"),
  phoneme_id_map: z.record(z.string(), z.array(z.int()).min(1)),
  num_speakers: z.int().positive().default(1),
  speaker_id_map: z.record(z.string(), z.int()).default({}),
  dataset: z.string().min(1).optional(),
  language: z.looseObject({ name_english: z.string(), code: z.string().optional() }).optional(),
}));

interface PiperVoice extends AsyncDisposable {
  paths: ModelPaths;
  /** Speaker numbers by name; undefined if they have no names. */
  voices: Readonly<Record<string, number>> | undefined;
  /** ISO 639-1 codes. */
  languages: readonly string[];
}

/** Writes the files to a temporary folder, which disposal deletes. Throws a Fault when the settings are not Piper's. */
export async function preparePiperVoice({ model = "", config = "", data = "" }: ModelPaths): Promise<PiperVoice> {
  const settings = await readSettings(config);
  const folder = await mkdtemp(join(tmpdir(), "parlance-piper-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const paths = { model: join(folder, "model.onnx"), tokens: join(folder, "tokens.txt"), data };
    await copyFile(model, paths.model);
    await appendFile(paths.model, metadata(settings));
    const tokens = Object.entries(settings.phoneme_id_map).map(([phoneme, [id]]) => `${phoneme} ${id}\n`);
    await writeFile(paths.tokens, tokens.join(""));
    return { paths, voices: voicesOf(settings), languages: [languageOf(settings)], [Symbol.asyncDispose]: remove };
  } catch (failure) {
    await remove();
    throw failure;
  }
}

async function readSettings(path: string): Promise<z.output<typeof PiperSettings>> {
  let json: unknown;
  try {
    json = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    throw invalidRequest(`files.config: ${path} is not JSON: ${(error as Error).message}`, "files.config");
  }
  const parsed = PiperSettings.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const message = `files.config: ${path} is not a Piper voice configuration: ${issue?.path.join(".")}: ${issue?.message}`;
  throw invalidRequest(message, "files.config");
}

function voicesOf({ num_speakers, speaker_id_map, dataset }: z.output<typeof PiperSettings>): PiperVoice["voices"] {
  if (Object.keys(speaker_id_map).length > 0) return speaker_id_map;
  return num_speakers === 1 && dataset !== undefined ? { [dataset]: 0 } : undefined;
}

/** Returns `en` for the language `en_GB`, or for espeak-ng's voice `en-gb-x-rp`. */
function languageOf({ language, espeak }: z.output<typeof PiperSettings>): string {
  return (language?.code ?? espeak.voice).replace(/[-_].*$/s, "").toLowerCase();
}

/** `metadata_props` of ONNX's ModelProto. Fields appended to a Protocol Buffers message become part of it. */
const METADATA_FIELD = 14;

function metadata({ audio, espeak, num_speakers, language }: z.output<typeof PiperSettings>): Uint8Array {
  const properties = {
    model_type: "vits",
    comment: "piper",
    language: language?.name_english ?? espeak.voice,
    voice: espeak.voice,
    has_espeak: 1,
    n_speakers: num_speakers,
    sample_rate: audio.sample_rate,
  };
  const writer = new PbfWriter();
  for (const property of Object.entries(properties)) {
    const write = ([key, value]: [string, string | number], pbf: PbfWriter) => {
      pbf.writeStringField(1, key);
      pbf.writeStringField(2, String(value));
    };
    writer.writeMessage(METADATA_FIELD, write, property);
  }
  return writer.finish();
}
