import { readFile } from "node:fs/promises";
import { Tensor } from "onnxruntime-node";
import { TARGET_LUFS } from "../level-loudness.ts";
import { openSession } from "../open-session.ts";
import { type AcousticModel, paddedIds } from "./acoustic-model.ts";

const STYLE_LENGTH = 256;
/** Not measured: its voices are left as they are. */
const LOUDNESS = TARGET_LUFS;

/**
 * Opens Kokoro-82M. `parts` are the pieces of its ONNX file, in order; `voiceFiles` its styles by voice: a vector of
 * 256 numbers for each number of phonemes. Voices joined by `+` are mixed: their styles are averaged.
 */
export async function openKokoro(
  parts: readonly string[],
  voiceFiles: Readonly<Record<string, string>>,
  threads: number,
): Promise<AcousticModel> {
  const weights = Buffer.concat(await Promise.all(parts.map((part) => readFile(part))));
  const session = await openSession(weights, threads);
  const styles = new Map<string, Float32Array>();
  for (const [voice, file] of Object.entries(voiceFiles)) {
    styles.set(voice, new Float32Array(Uint8Array.from(await readFile(file)).buffer));
  }
  const styleFor = (voice: string, phonemes: number) => {
    const mixed = voice.split("+").map((name) => styles.get(name) ?? new Float32Array());
    const start = (phonemes - 1) * STYLE_LENGTH;
    return Float32Array.from(
      { length: STYLE_LENGTH },
      (_, index) => mixed.reduce((sum, style) => sum + (style[start + index] ?? 0), 0) / mixed.length,
    );
  };
  return {
    voices: [...styles.keys()],
    mixesVoices: true,
    sampleRate: 24_000,
    loudness: LOUDNESS,
    // The network accepts 510, but a call cannot be interrupted: shorter pieces react to an abort sooner.
    maxPhonemes: 150,
    synthesize: async (phonemes, voice, speed) => {
      const ids = paddedIds(phonemes);
      const { audio } = await session.run({
        tokens: new Tensor("int64", ids, [1, ids.length]),
        style: new Tensor("float32", styleFor(voice, phonemes.length), [1, STYLE_LENGTH]),
        speed: new Tensor("float32", Float32Array.of(speed), [1]),
      });
      return audio?.data as Float32Array;
    },
    close: () => session.release(),
  };
}
