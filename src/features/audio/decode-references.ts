import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { concatenateSamples } from "@parlance-inference/audio/concatenate-samples";
import type { Decoder } from "@parlance-inference/audio/decode";
import { invalidRequest } from "../../kernel/faults.ts";
import { withAudioFaults } from "./audio-faults.ts";

const SAMPLE_RATE = 16_000;
/** Longer than the recordings of 2 to 10 s that OpenAI takes. */
const MAX_SECONDS = 60;
const MIN_SECONDS = 0.5;
const DATA_URL = /^data:[^,]*;base64,/;

/** Decodes recordings of known speakers, given as data URLs, by way of files in `folder`. Throws a Fault. */
export async function decodeReferences(
  references: readonly string[],
  decoder: Decoder,
  folder: string,
  signal: AbortSignal,
): Promise<Float32Array[]> {
  const voices: Float32Array[] = [];
  for (const [index, reference] of references.entries()) {
    const start = DATA_URL.exec(reference)?.[0].length;
    if (start === undefined) {
      const message = "Each reference must be a data URL such as data:audio/wav;base64,….";
      throw invalidRequest(message, `known_speaker_references[${index}]`, "invalid_value");
    }
    const path = join(folder, `reference-${index}`);
    await writeFile(path, reference.slice(start), { encoding: "base64" });
    const samples = decoder.decode({ path, sampleRate: SAMPLE_RATE, maxSeconds: MAX_SECONDS }, signal);
    const voice = concatenateSamples(await Array.fromAsync(withAudioFaults(samples)));
    if (voice.length < MIN_SECONDS * SAMPLE_RATE) {
      const message = `A reference must be at least ${MIN_SECONDS} s long; 2 to 10 s are best.`;
      throw invalidRequest(message, `known_speaker_references[${index}]`, "invalid_value");
    }
    voices.push(voice);
  }
  return voices;
}
