/** What a model's process runs: brings the files into the form that sherpa-onnx takes, then loads them. */

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Model } from "../engine.ts";
import { moonshineTokens } from "./moonshine-tokens.ts";
import { SherpaTranscription, type SherpaTranscriptionSettings } from "./sherpa-transcription.ts";

export async function open(settings: unknown): Promise<Model> {
  const { paths, ...rest } = settings as SherpaTranscriptionSettings;
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
