/** The built-in moderation cascade with the real classifier and the real Qwen2.5-Coder 1.5B. Downloads 1.1 GB once. */

import type OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MODERATION_QWEN } from "../../src/model-store/manifest/moderation-qwen.ts";
import { testModelStore } from "../support/models/default-model.ts";
import { PLAIN_PROMPTS } from "../support/models/plain-prompts.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

/** Asks the guard about every text, so that the classifier's weights do not decide what is tested. */
const ALWAYS = {
  id: "always",
  task: "moderation",
  deployments: [{ engine: "cascade", ...MODERATION_QWEN.engineSettings, band: { below: 1, above: 1 } }],
};
const PARROT = { id: "parrot", task: "chat", deployments: [{ engine: "scripted", echo: true }] };
const CONFIG = `
local: { unload_after_seconds: 0 }
models: ${JSON.stringify([ALWAYS, PARROT])}
`;

let service: ServiceProcess;
let client: OpenAI;
beforeAll(async () => {
  await testModelStore().pull({ model: "moderation-minilm" }, { signal: AbortSignal.timeout(1_200_000) });
  await testModelStore().pull({ model: "moderation-qwen" }, { signal: AbortSignal.timeout(1_200_000) });
  service = await startServiceProcess({ config: CONFIG });
  client = service.client({ maxRetries: 0 });
}, 1_300_000);
afterAll(() => service?.stop());

const HARMFUL = "I will rip your heart out.";
const HARMLESS = [
  "Please send me the minutes of yesterday's meeting.",
  ...PLAIN_PROMPTS.slice(0, 5).map(([prompt]) => prompt),
];

async function scoresOf(model: string, input: string[]): Promise<number[]> {
  const { results } = await client.moderations.create({ model, input });
  return results.map(({ category_scores: scores }) => Math.max(...Object.values(scores)));
}

test("the guard raises the scores of a threat and lowers those of harmless texts", async () => {
  const input = [HARMFUL, ...HARMLESS];
  const alone = await scoresOf("moderation-minilm", input);
  const together = await scoresOf("always", input);
  const isRaised = together.map((score, index) => score > (alone[index] ?? 1));
  expect(isRaised).toEqual(input.map((text) => text === HARMFUL));
}, 600_000);

test("moderation-qwen answers sure texts as the classifier does", async () => {
  const input = [...PLAIN_PROMPTS.map(([prompt]) => prompt), "I will find you and kill you, and then your family."];
  // Batches of other sizes round otherwise.
  const rounded = async (model: string) => (await scoresOf(model, input)).map((score) => score.toFixed(2));
  expect(await rounded("moderation-qwen")).toEqual(await rounded("moderation-minilm"));
}, 600_000);

test.each([
  [HARMFUL, "content_filter"],
  [HARMLESS[0], "stop"],
])(
  "under block, a chat that answers %j ends with %s",
  async (content = "", expected) => {
    const body = {
      ...{ model: "parrot", messages: [{ role: "user" as const, content }], stream: true as const },
      moderation: { model: "always", policy: { output: { mode: "block" as const } } },
    };
    let reason: string | null = null;
    for await (const { choices } of await client.chat.completions.create(body))
      reason = choices[0]?.finish_reason ?? reason;
    expect(reason).toBe(expected);
  },
  600_000,
);

test("counts the memory of both models", async () => {
  const { data } = (await (await service.fetch("/v1/models?include_metadata=true")).json()) as {
    data: { id: string; metadata: { memory_bytes: number | null } }[];
  };
  const memoryOf = (model: string) => data.find(({ id }) => id === model)?.metadata.memory_bytes ?? 0;
  expect(memoryOf("always") - memoryOf("moderation-minilm")).toBeGreaterThan(1.5e9);
  expect(memoryOf("always")).toBeLessThan(3.5e9);
});
