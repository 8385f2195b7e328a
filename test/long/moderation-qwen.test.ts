/** The built-in moderation cascade with the real classifier and the real Qwen2.5-Coder 1.5B. Downloads 1.1 GB once. */

import type OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testModelStore } from "../support/default-model.ts";
import { PLAIN_PROMPTS } from "../support/plain-prompts.ts";
import { type Service, startService } from "../support/service.ts";

const CONFIG = `
local: { unload_after_seconds: 0 }
models: [{ id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }]
`;

let service: Service;
let client: OpenAI;
beforeAll(async () => {
  await testModelStore().pull({ model: "moderation-qwen" }, { signal: AbortSignal.timeout(1_200_000) });
  service = await startService({ config: CONFIG });
  client = service.client({ maxRetries: 0 });
}, 1_300_000);
afterAll(() => service?.stop());

/** Texts that the classifier alone is unsure about; the guard moves their scores, in this direction. */
const UNSURE = {
  "People like you should not be allowed to vote.": "up",
  "I'll make sure you never walk again.": "up",
  "Sleep with one eye open from now on.": "down",
} as const;
const SURE = [
  "Please send me the minutes of yesterday's meeting.",
  "I will find you and kill you, and then I will kill your whole family.",
  "How do I kill a Python process that hangs?",
  ...PLAIN_PROMPTS.map(([prompt]) => prompt),
];

test("asks the guard about unsure texts, and answers others as the classifier does", async () => {
  const input = [...SURE, ...Object.keys(UNSURE)];
  const scoresOf = async (model: string) => {
    const { results } = await client.moderations.create({ model, input });
    return results.map(({ category_scores: scores }) => ({ ...scores }));
  };
  const alone = await scoresOf("moderation-minilm");
  const together = await scoresOf("moderation-qwen");
  // Batches of other sizes round otherwise.
  const rounded = (scores: ReadonlyArray<Record<string, number>>) =>
    scores.slice(0, SURE.length).map((each) => Object.values(each).map((score) => score.toFixed(2)));
  expect(rounded(together)).toEqual(rounded(alone));
  for (const [index, direction] of Object.values(UNSURE).entries()) {
    const [before, after] = [alone, together].map((all) => Math.max(...Object.values(all[SURE.length + index] ?? {})));
    expect(Math.sign((after ?? 0) - (before ?? 0)), input[SURE.length + index]).toBe(direction === "up" ? 1 : -1);
  }
}, 600_000);

test("ends a chat with a harmful answer under block", async () => {
  const stream = await client.chat.completions.create({
    model: "parrot",
    messages: [{ role: "user", content: "Then he said: People like you should not be allowed to vote." }],
    stream: true,
    ...({ moderation: { model: "moderation-qwen", policy: { output: { mode: "block" } } } } as object),
  });
  let reason: string | null = null;
  for await (const { choices } of stream) reason = choices[0]?.finish_reason ?? reason;
  expect(reason).toBe("content_filter");
}, 600_000);

test("loads on demand, and shows its memory", async () => {
  const { data } = (await (await service.fetch("/v1/models?include_metadata=true")).json()) as {
    data: { id: string; metadata: { memory_bytes: number | null } }[];
  };
  const memory = data.find(({ id }) => id === "moderation-qwen")?.metadata.memory_bytes ?? 0;
  expect(memory).toBeGreaterThan(1.5e9);
  expect(memory).toBeLessThan(3.5e9);
});
