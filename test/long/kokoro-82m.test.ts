/** Kokoro-82M from the first download into an empty store to mixed voices. */

import { toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testModelStore } from "../support/models/default-model.ts";
import { wordErrors } from "../support/models/word-errors.ts";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/service/temporary-directory.ts";

const SENTENCE = "The teacher wrote the date on the board.";

let folder: TemporaryDirectory;
let service: ServiceProcess;
let listener: ServiceProcess;
beforeAll(async () => {
  folder = await temporaryDirectory();
  await testModelStore().pull({ model: "moonshine-base-en" }, { signal: AbortSignal.timeout(100_000) });
  service = await startServiceProcess({
    config: `
builtin_models: false
models:
  - id: kokoro-82m
    task: speech
    fallbacks: [flite]
    deployments: [{ engine: kokoro, model: kokoro-82m, voices: { narrator: am_michael } }]
  - id: flite
    task: speech
    deployments: [{ engine: flite, voices: { af_heart: slt } }]
`,
    environment: { PARLANCE_MODELS_DIR: folder.path },
    until: "listening",
  });
  listener = await startServiceProcess({
    config: `
builtin_models: false
models:
  - id: moonshine-base-en
    task: transcription
    deployments: [{ engine: moonshine, model: moonshine-base-en }]
`,
  });
});
afterAll(async () => {
  await service.stop();
  await listener.stop();
  await folder[Symbol.asyncDispose]();
});

const speak = (voice: string, input = SENTENCE) =>
  service.post("/v1/audio/speech", { model: "kokoro-82m", voice, input, response_format: "pcm" });

async function samplesOf(voice: string): Promise<Float32Array> {
  const response = await speak(voice);
  expect(response.status).toBe(200);
  expect(response.headers.get("x-parlance-deployment")).toBe("kokoro-82m");
  return Float32Array.from(new Int16Array(await response.arrayBuffer()), (sample) => sample / 32_768);
}

test("uses the fallback until the model is downloaded", async () => {
  const by = async () => {
    await new Promise((resume) => setTimeout(resume, 500));
    const response = await speak("af_heart", "Hi.");
    await response.arrayBuffer();
    return [response.status, response.headers.get("x-parlance-deployment")];
  };
  await eventually(async () => expect(await by()).toEqual([200, "flite"]), 30);
  await eventually(async () => expect(await by()).toEqual([200, "kokoro-82m"]), 500);
});

test.each(["af_heart", "bf_emma", "bm_george", "nova", "narrator", "af_heart+am_onyx", "alloy + onyx"])(
  "is understood as %s",
  async (voice) => {
    const spoken = await service
      .client({ maxRetries: 5 })
      .audio.speech.create({ model: "kokoro-82m", voice, input: SENTENCE });
    const file = await toFile(Buffer.from(await spoken.arrayBuffer()), "spoken.mp3");
    const { text } = await listener.client().audio.transcriptions.create({ model: "moonshine-base-en", file });
    expect(wordErrors(SENTENCE, text), text).toBeLessThanOrEqual(2);
  },
);

test("mixes two voices into a distinct one", async () => {
  const voices = ["af_heart", "am_onyx", "af_heart+am_onyx"];
  const [first, second, mixed] = await Promise.all(voices.map((voice) => pitchOf(voice)));
  const [low = 0, high = 0] = [first ?? 0, second ?? 0].toSorted((a, b) => a - b);
  expect(mixed).toBeGreaterThan(low * 1.05);
  expect(mixed).toBeLessThan(high * 0.95);
});

test("rejects a mix with an unknown voice", async () => {
  const response = await speak("af_heart+nobody");
  expect(response.status).toBe(400);
  expect(await response.text()).toMatch(/no voice \\"nobody/);
});

/** Median pitch in hertz, by the strongest autocorrelation of each loud 40 ms. */
async function pitchOf(voice: string): Promise<number> {
  const samples = await samplesOf(voice);
  const length = 960;
  const pitches: number[] = [];
  for (let start = 0; start + 2 * length < samples.length; start += length) {
    const energy = correlation(samples, start, 0, length);
    if (energy / length < 0.001) continue;
    const periods = Array.from({ length: 340 }, (_, index) => index + 60);
    const best = periods.reduce((most, period) =>
      correlation(samples, start, period, length) > correlation(samples, start, most, length) ? period : most,
    );
    if (correlation(samples, start, best, length) > 0.6 * energy) pitches.push(24_000 / best);
  }
  return pitches.toSorted((a, b) => a - b)[Math.floor(pitches.length / 2)] ?? Number.NaN;
}

function correlation(samples: Float32Array, start: number, lag: number, length: number): number {
  let sum = 0;
  for (let index = start; index < start + length; index += 1)
    sum += (samples[index] ?? 0) * (samples[index + lag] ?? 0);
  return sum;
}
