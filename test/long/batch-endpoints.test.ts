/** Batches of each endpoint on the default models. */

import type OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DEFAULT_CHAT_MODEL } from "../support/models/default-model.ts";
import { createBatch, readLines, untilEnded } from "../support/service/batches.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

let service: ServiceProcess;
let client: OpenAI;
beforeAll(async () => {
  service = await startServiceProcess({ config: "local: { load: on_demand }\n" });
  client = service.client();
});
afterAll(() => service?.stop());

test.each([
  [
    "/v1/chat/completions",
    { model: DEFAULT_CHAT_MODEL, messages: [{ role: "user", content: "Name a bird." }], max_completion_tokens: 12 },
    { object: "chat.completion" },
  ],
  [
    "/v1/completions",
    { model: DEFAULT_CHAT_MODEL, prompt: "The capital of France is", max_tokens: 5 },
    { object: "text_completion" },
  ],
  ["/v1/embeddings", { model: "text-embedding-3-small", input: "A bird sings." }, { object: "list" }],
  ["/v1/moderations", { input: "A bird sings." }, { results: [{ flagged: false }] }],
  [
    "/v1/responses",
    { model: DEFAULT_CHAT_MODEL, input: "Name a bird.", max_output_tokens: 16 },
    { object: "response", store: true },
  ],
] as const)("answers a batch of %s", async (endpoint, body, expected) => {
  const lines = Array.from({ length: 12 }, (_, index) => ({
    custom_id: `${index}`,
    method: "POST",
    url: endpoint,
    body,
  }));
  const batch = await untilEnded(client, await createBatch(client, lines, { endpoint }), 300);
  expect(batch).toMatchObject({ status: "completed", request_counts: { completed: 12, failed: 0 } });
  for (const { response } of await readLines(client, batch.output_file_id)) {
    expect(response).toMatchObject({ status_code: 200, body: expected });
  }
});
