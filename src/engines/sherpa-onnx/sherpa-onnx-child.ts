/** Brings the model's files into the form that sherpa-onnx takes, then loads them. */

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Model } from "../engine.ts";
import { moonshineTokens } from "./moonshine-tokens.ts";
import { SherpaSpeech, type SherpaSpeechSettings } from "./sherpa-speech.ts";
import { SherpaTranscription, type SherpaTranscriptionSettings } from "./sherpa-transcription.ts";

export type SherpaStart =
  | { task: "speech"; settings: SherpaSpeechSettings }
  | { task: "transcription"; settings: SherpaTranscriptionSettings };

export async function open(start: unknown): Promise<Model> {
  const { task, settings } = start as SherpaStart;
  return task === "speech" ? SherpaSpeech.load(settings) : openTranscription(settings);
}

async function openTranscription({ paths, ...rest }: SherpaTranscriptionSettings): Promise<Model> {
  const { tokenizer } = paths;
  if (tokenizer === undefined) return SherpaTranscription.load({ ...rest, paths });
  const folder = await mkdtemp(join(tmpdir(), "parlance-tokens-"));
  try {
    const tokens = join(folder, "tokens.txt");
    await writeFile(tokens, moonshineTokens(await readFile(tokenizer, "utf8")));
    return await SherpaTranscription.load({ ...rest, paths: { ...paths, tokens } });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
