/** Kokoro's voices of other languages than English, understood by Whisper. */

import { toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testModelStore } from "../support/models/default-model.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { SENTENCES } from "../support/speech/sentences.ts";
import { speechErrors } from "../support/speech/speech-errors.ts";

const VOICES = { es: "ef_dora", fr: "ff_siwis", it: "if_sara", pt: "pf_dora", zh: "zf_xiaobei" } as const;
/** Whisper's base model mishears a few names and words itself. */
const MAX_ERROR_SHARE = 0.25;
const SENTENCES_PER_LANGUAGE = 5;

let service: ServiceProcess;
beforeAll(async () => {
  const signal = AbortSignal.timeout(500_000);
  for (const model of ["kokoro-82m", "whisper-base"]) await testModelStore().pull({ model }, { signal });
  service = await startServiceProcess({
    config: `
builtin_models: false
models:
  - id: kokoro-82m
    task: speech
    deployments: [{ engine: kokoro, model: kokoro-82m }]
  - id: whisper-base
    task: transcription
    deployments: [{ engine: whisper, model: whisper-base }]
`,
  });
});
afterAll(() => service.stop());

test.each(Object.entries(VOICES))("speaks %s so that Whisper understands %s", async (code, voice) => {
  const language = code as keyof typeof VOICES;
  const client = service.client();
  let [errors, total] = [0, 0];
  const report: string[] = [];
  for (const input of SENTENCES[language]?.slice(0, SENTENCES_PER_LANGUAGE) ?? []) {
    const spoken = await client.audio.speech.create({ model: "kokoro-82m", voice, input, response_format: "wav" });
    const file = await toFile(Buffer.from(await spoken.arrayBuffer()), "spoken.wav");
    const { text } = await client.audio.transcriptions.create({ model: "whisper-base", file, language });
    const count = await speechErrors(language, input, text);
    errors += count.errors;
    total += count.total;
    report.push(text);
  }
  expect(total).toBeGreaterThan(20);
  expect(errors / total, report.join("\n")).toBeLessThan(MAX_ERROR_SHARE);
});

test("lists the language of each voice", async () => {
  const response = await service.fetch("/v1/audio/voices?model=kokoro-82m");
  const { data } = (await response.json()) as { data: { id: string; languages: string[] }[] };
  const languageOf = (voice: string) => data.find(({ id }) => id === voice)?.languages;
  for (const [language, voice] of Object.entries(VOICES)) expect(languageOf(voice)).toEqual([language]);
  expect(languageOf("alloy")).toEqual(["en"]);
});

test("refuses a text in another language than the voice's and names voices that speak it", async () => {
  const input = "Me gustaría saber a qué hora sale el próximo tren para la ciudad de Sevilla.";
  const response = await service.post("/v1/audio/speech", { model: "kokoro-82m", voice: "af_heart", input });
  expect(response.status).toBe(400);
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  expect(error.code).toBe("unsupported_language");
  expect(error.message).toContain("Use one of the voices that speak it: ef_dora, em_alex, em_santa.");
});
