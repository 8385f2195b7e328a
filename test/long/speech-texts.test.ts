/** The default voice with texts that are hard to read aloud, and with many requests at once. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

const CONFIG = `
builtin_models: false
models:
  - id: hibari
    task: speech
    deployments: [{ engine: kokoro, model: hibari }]
`;

let service: ServiceProcess;
beforeAll(async () => {
  service = await startServiceProcess({ config: CONFIG });
});
afterAll(() => service.stop());

async function samplesOf(input: string): Promise<Float32Array> {
  const body = { model: "hibari", voice: "heart", input, response_format: "pcm" };
  const response = await service.post("/v1/audio/speech", body);
  if (response.status !== 200) throw new Error(await response.text());
  return Float32Array.from(new Int16Array(await response.arrayBuffer()), (sample) => sample / 32_768);
}

test.each([
  ["numbers, dates and amounts", "On 3/14/2024 at 9:05 pm, 1,234 people paid $5.99 or €7 for 2.5 kg."],
  ["addresses and markup", "See **https://example.com/a_b?x=1** or write to me@example.org, `please`."],
  ["words that no dictionary has", "Blorfzig the Qwertyuiop met Xzxzx in Krzyżewo."],
  ["other scripts among English", "The word 日本語 is Japanese, and Ελλάδα is Greek."],
  ["capitals and abbreviations", "NASA, the U.S. FBI, HTTP and iPhone vs. GitHub, e.g. v2.0.1"],
  ["a long sentence without a stop", "and then ".repeat(120)],
  ["a word without an end", "x".repeat(200)],
  ["quotes, brackets and dashes", `"Well," he spoken (quietly) — 'no'... or yes?!`],
  ["control characters", "a\u0000b\u0007c"],
  ["a lone surrogate", "before \uD83D after"],
  ["mixed directions", "Hello שלום and مرحبا \u202Ereversed\u202C"],
  ["emoji among words", "Good 👍🏽 morning 👩‍👩‍👧"],
  ["one letter", "a"],
  ["one digit", "7"],
])("speaks %s", async (_name, input) => {
  expect((await samplesOf(input)).length).toBeGreaterThan(2400);
});

test("completes 32 concurrent requests", async () => {
  const input = "First one. And second.";
  const lengths = (await Promise.all(Array.from({ length: 32 }, () => samplesOf(input)))).map(({ length }) => length);
  expect(new Set(lengths).size).toBe(1);
});
