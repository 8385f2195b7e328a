import { readFile } from "node:fs/promises";
import { editGraph } from "@parlance-inference/onnx-graph/edit-graph";
import { type InferenceSession, Tensor } from "onnxruntime-node";
import { openSession } from "../open-session.ts";
import { type AcousticModel, DURATIONS, durationsOutput, paddedIds, toDurations } from "./acoustic-model.ts";
import { FourierTransform } from "./fourier-transform.ts";
import { HIBARI_SAMPLE_RATE, synthesizeWave, WINDOW } from "./spectrum-to-wave.ts";

const SPECTRUM = ["lh", "theta", "ln", "lr", "phi", "f0"] as const;

/** Opens the hibari voices: a small network for each, distilled from Kokoro. `files` are ONNX files by voice. */
export async function openHibari(files: Readonly<Record<string, string>>, threads: number): Promise<AcousticModel> {
  const transform = await FourierTransform.open(WINDOW);
  const sessions = new Map<string, InferenceSession>();
  for (const [voice, file] of Object.entries(files)) {
    const network = editGraph(await readFile(file), durationsOutput);
    sessions.set(voice, await openSession(network, threads));
  }
  return {
    voices: [...sessions.keys()],
    mixesVoices: false,
    sampleRate: HIBARI_SAMPLE_RATE,
    // Measured with the voice heart.
    loudnessOf: () => -26,
    maxPhonemes: 400,
    synthesize: async ({ phonemes, voice, speed, isTimed }, signal) => {
      const ids = paddedIds(phonemes);
      const inputs = {
        ids: new Tensor("int64", ids, [1, ids.length]),
        speed: new Tensor("float32", Float32Array.of(speed), [1]),
      };
      const output = await sessions.get(voice)?.run(inputs, isTimed ? [...SPECTRUM, DURATIONS] : SPECTRUM);
      const part = (name: (typeof SPECTRUM)[number]) => output?.[name]?.data as Float32Array;
      const parts = {
        harmonicLevel: part("lh"),
        harmonicPhase: part("theta"),
        noiseLevel: part("ln"),
        residualLevel: part("lr"),
        residualPhase: part("phi"),
        pitch: part("f0"),
      };
      return {
        samples: await synthesizeWave(parts, transform, signal),
        durations: toDurations(output?.[DURATIONS]),
      };
    },
    close: async () => {
      for (const session of sessions.values()) await session.release();
    },
  };
}
