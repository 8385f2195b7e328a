import { join } from "node:path";
import { concatenateSamples } from "@parlance-inference/audio/concatenate-samples";
import { Decoder } from "@parlance-inference/audio/decode";

/** Mono samples at 16 kHz of a file in `test/recordings`. */
export async function readRecording(name: string): Promise<Float32Array> {
  const decoder = new Decoder();
  const path = join(import.meta.dirname, "../../recordings", name);
  const order = { path, sampleRate: 16_000, maxSeconds: 60 };
  const pieces = await Array.fromAsync(decoder.decode(order, new AbortController().signal));
  decoder.close();
  return concatenateSamples(pieces);
}
