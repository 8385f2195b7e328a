/**
 * Kokoro in sherpa-onnx, transcribed: weights of `kokoro-82m`, with the metadata, tokens and voices that sherpa-onnx
 * requires. Skipped without espeak-ng-data, which is never downloaded.
 */

import { globSync } from "node:fs";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testModelStore } from "../support/models/default-model.ts";
import { onnxMetadata } from "../support/models/onnx-file.ts";
import { wordErrors } from "../support/models/word-errors.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/service/temporary-directory.ts";

const [ESPEAK_DATA] = globSync("/usr/{lib/*,share,lib}/espeak-ng-data");
const VOICES = ["af_heart", "am_onyx"];
const SENTENCE = "The teacher wrote the date on the board.";

describe.skipIf(ESPEAK_DATA === undefined)("Kokoro in sherpa-onnx", () => {
  let folder: TemporaryDirectory;
  let service: ServiceProcess;
  beforeAll(async () => {
    folder = await temporaryDirectory();
    const { model, voices, tokens } = await putFiles(folder.path);
    service = await startServiceProcess({
      config: `
builtin_models: false
models:
  - id: kokoro
    task: speech
    deployments:
      - engine: sherpa-onnx
        family: kokoro
        files: { model: ${model}, voices: ${voices}, tokens: ${tokens}, data: ${ESPEAK_DATA} }
        voices: { af_heart: 0, am_onyx: 1 }
  - id: moonshine-base-en
    task: transcription
    deployments: [{ engine: moonshine, model: moonshine-base-en }]
`,
    });
  }, 600_000);
  afterAll(async () => {
    await service.stop();
    await folder[Symbol.asyncDispose]();
  });

  const speak = async (body: object) => {
    const request = { model: "kokoro", voice: "af_heart", input: SENTENCE, response_format: "pcm", ...body };
    const response = await service.post("/v1/audio/speech", request);
    expect(response.status).toBe(200);
    return Buffer.from(await response.arrayBuffer());
  };

  test.each([...VOICES, "alloy"])("is understood as %s", async (voice) => {
    const file = await toFile(await speak({ voice, response_format: "mp3" }), "spoken.mp3");
    const client = service.client({ maxRetries: 20 });
    const { text } = await client.audio.transcriptions.create({ model: "moonshine-base-en", file });
    expect(wordErrors(SENTENCE, text), text).toBeLessThanOrEqual(2);
  });

  test("has distinct voices and speaks faster at a higher speed", async () => {
    const [heart, onyx] = [await speak({}), await speak({ voice: "am_onyx" })];
    expect(heart.equals(onyx)).toBe(false);
    const share = (await speak({ speed: 2 })).length / heart.length;
    expect(share).toBeGreaterThan(0.4);
    expect(share).toBeLessThan(0.75);
  });
});

async function putFiles(directory: string): Promise<{ model: string; voices: string; tokens: string }> {
  const { paths } = await testModelStore().pull({ model: "kokoro-82m" }, { signal: AbortSignal.timeout(500_000) });
  const read = (name: string) => readFile(paths[name] ?? "");
  const model = join(directory, "kokoro.onnx");
  for (const part of [1, 2, 3, 4]) await appendFile(model, await read(`kokoro.onnx.${part}`));
  const metadata = onnxMetadata({
    model_type: "kokoro",
    sample_rate: 24_000,
    n_speakers: VOICES.length,
    has_espeak: 1,
    voice: "en-us",
    // Each voice has a style for each length of a text.
    style_dim: "510,1,256",
  });
  await appendFile(model, metadata);
  const voices = join(directory, "voices.bin");
  await writeFile(voices, Buffer.concat(await Promise.all(VOICES.map((voice) => read(`voice-${voice}.bin`)))));
  const tokens = join(directory, "tokens.txt");
  const vocabulary = Object.entries(JSON.parse((await read("vocabulary.json")).toString()));
  await writeFile(tokens, vocabulary.map(([phoneme, id]) => `${phoneme} ${id}\n`).join(""));
  return { model, voices, tokens };
}
