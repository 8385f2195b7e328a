import { readFile } from "node:fs/promises";
import { editGraph } from "@parlance-inference/onnx-graph/edit-graph";
import { floatConvolutions } from "@parlance-inference/onnx-graph/float-convolutions";
import { Tensor } from "onnxruntime-node";
import { TARGET_LUFS } from "../loudness/level-loudness.ts";
import { openSession } from "../open-session.ts";
import { type AcousticModel, DURATIONS, durationsOutput, paddedIds, toDurations } from "./acoustic-model.ts";

const STYLE_LENGTH = 256;
/** Integrated loudness of each voice, in LUFS (EBU R 128), as measured by FFmpeg over 13 seconds of speech. */
const LOUDNESS: Readonly<Record<string, number>> = {
  af_alloy: -21,
  af_aoede: -17.6,
  af_bella: -22.2,
  af_heart: -22.7,
  af_jessica: -21.4,
  af_kore: -18.4,
  af_nicole: -21.5,
  af_nova: -26,
  af_river: -20.9,
  af_sarah: -20.5,
  af_sky: -23.5,
  am_adam: -18.3,
  am_echo: -21.6,
  am_eric: -20.9,
  am_fenrir: -18.8,
  am_liam: -21.3,
  am_michael: -23.1,
  am_onyx: -21.4,
  am_puck: -18,
  am_santa: -22.3,
};

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
  const session = await openSession(editGraph(weights, floatConvolutions, durationsOutput), threads);
  // Read with a voice's first text: all voices together take 28 MB.
  const styles = new Map<string, Float32Array>();
  const styleOf = async (voice: string) => {
    const style =
      styles.get(voice) ?? new Float32Array(Uint8Array.from(await readFile(voiceFiles[voice] ?? "")).buffer);
    styles.set(voice, style);
    return style;
  };
  const styleFor = async (voice: string, phonemes: number) => {
    const mixed = await Promise.all(voice.split("+").map(styleOf));
    const start = (phonemes - 1) * STYLE_LENGTH;
    return Float32Array.from(
      { length: STYLE_LENGTH },
      (_, index) => mixed.reduce((sum, style) => sum + (style[start + index] ?? 0), 0) / mixed.length,
    );
  };
  return {
    voices: Object.keys(voiceFiles),
    mixesVoices: true,
    sampleRate: 24_000,
    loudnessOf: kokoroLoudness,
    // The network accepts 510, but a call cannot be interrupted: shorter pieces react to an abort sooner.
    maxPhonemes: 150,
    synthesize: async ({ phonemes, voice, speed, isTimed }) => {
      const ids = paddedIds(phonemes);
      const inputs = {
        tokens: new Tensor("int64", ids, [1, ids.length]),
        style: new Tensor("float32", await styleFor(voice, phonemes.length), [1, STYLE_LENGTH]),
        speed: new Tensor("float32", Float32Array.of(speed), [1]),
      };
      const output = await session.run(inputs, isTimed ? ["audio", DURATIONS] : ["audio"]);
      return { samples: output.audio?.data as Float32Array, durations: toDurations(output[DURATIONS]) };
    },
    close: () => session.release(),
  };
}

/**
 * Returns the loudness of a voice, or the mean of a mix, in which a voice that was not measured counts as level. Returns
 * undefined for such a voice alone.
 */
export function kokoroLoudness(voice: string): number | undefined {
  if (!voice.includes("+") && !Object.hasOwn(LOUDNESS, voice)) return undefined;
  const measured = voice
    .split("+")
    .map((name) => (Object.hasOwn(LOUDNESS, name) ? LOUDNESS[name] : undefined) ?? TARGET_LUFS);
  return measured.reduce((sum, loudness) => sum + loudness, 0) / measured.length;
}
