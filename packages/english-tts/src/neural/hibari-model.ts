import { type InferenceSession, Tensor } from "onnxruntime-node";
import { openSession } from "../open-session.ts";
import { type AcousticModel, paddedIds } from "./acoustic-model.ts";
import { FourierTransform } from "./fourier-transform.ts";
import { HIBARI_SAMPLE_RATE, synthesizeWave, WINDOW } from "./spectrum-to-wave.ts";

/** Opens the hibari voices: a small network for each, distilled from Kokoro. `files` are ONNX files by voice. */
export async function openHibari(files: Readonly<Record<string, string>>, threads: number): Promise<AcousticModel> {
  const transform = await FourierTransform.open(WINDOW);
  const sessions = new Map<string, InferenceSession>();
  for (const [voice, file] of Object.entries(files)) {
    sessions.set(voice, await openSession(file, threads));
  }
  return {
    voices: [...sessions.keys()],
    mixesVoices: false,
    sampleRate: HIBARI_SAMPLE_RATE,
    // Measured with the voice heart.
    loudnessOf: () => -26,
    maxPhonemes: 400,
    synthesize: async (phonemes, voice, speed, signal) => {
      const ids = paddedIds(phonemes);
      const output = await sessions.get(voice)?.run({
        ids: new Tensor("int64", ids, [1, ids.length]),
        speed: new Tensor("float32", Float32Array.of(speed), [1]),
      });
      const part = (name: string) => output?.[name]?.data as Float32Array;
      const parts = {
        harmonicLevel: part("lh"),
        harmonicPhase: part("theta"),
        noiseLevel: part("ln"),
        residualLevel: part("lr"),
        residualPhase: part("phi"),
        pitch: part("f0"),
      };
      return synthesizeWave(parts, transform, signal);
    },
    close: async () => {
      for (const session of sessions.values()) await session.release();
    },
  };
}
