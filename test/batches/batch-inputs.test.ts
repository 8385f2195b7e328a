/** Input files of batches that take long to read: other requests do not wait for them. */

import type OpenAI from "openai";
import { toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readAnswers, readLines, untilEnded, uploadLines } from "../support/service/batches.ts";
import { mainThreadMs } from "../support/service/main-thread-ms.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

const CONFIG = `
builtin_models: false
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true, slots: 2 }] }
`;
const MAX_MAIN_THREAD_MS_PER_FILE = 200;
const MAX_MAIN_THREAD_MS_PER_LINE = 600;

let service: ServiceProcess;
let client: OpenAI;
beforeAll(async () => {
  service = await startServiceProcess({ config: CONFIG });
  client = service.client({ maxRetries: 0 });
});
afterAll(() => service.stop());

async function upload(content: Buffer): Promise<string> {
  const file = await toFile(content, "input.jsonl");
  return (await client.files.create({ file, purpose: "batch" })).id;
}

const create = (input_file_id: string) =>
  client.batches.create({ input_file_id, endpoint: "/v1/chat/completions", completion_window: "24h" });

test.skipIf(process.platform !== "linux")("stops reading files of blank lines", async () => {
  const ids = await Promise.all(Array.from({ length: 4 }, () => upload(Buffer.alloc(4_000_000, "\n"))));
  const before = mainThreadMs(service);
  const batches = await Promise.all(ids.map(create));
  const ended = await Promise.all(batches.map((batch) => untilEnded(client, batch, 100)));
  expect(mainThreadMs(service) - before).toBeLessThan(4 * MAX_MAIN_THREAD_MS_PER_FILE);
  for (const batch of ended) {
    expect(batch).toMatchObject({
      status: "failed",
      errors: { data: [{ code: "too_many_blank_lines", line: 10_001 }] },
    });
  }
});

test("takes a file whose requests stand between blank lines", async () => {
  const line = { custom_id: "a", method: "POST", url: "/v1/chat/completions" };
  const body = { model: "parrot", messages: [{ role: "user", content: "Hello" }] };
  const text = `${"\r\n".repeat(5_000)}${JSON.stringify({ ...line, body })}${"\n".repeat(4_999)}`;
  const batch = await untilEnded(client, await create(await upload(Buffer.from(text))));
  expect(await readAnswers(client, batch)).toEqual(new Map([["a", "Hello"]]));
});

test.skipIf(process.platform !== "linux")("reads lines of 19 MB in threads", async () => {
  const lines = Array.from({ length: 4 }, (_, index) => {
    const messages = Array.from({ length: 19_000 }, () => ({
      role: "user",
      content: `${index}${'"\\\n'.repeat(160)}`,
    }));
    const body = { model: "parrot", messages };
    return { custom_id: `${index}`, method: "POST", url: "/v1/chat/completions", body };
  });
  const inputId = await uploadLines(client, lines);
  const before = mainThreadMs(service);
  const batch = await untilEnded(client, await create(inputId), 100);
  expect(mainThreadMs(service) - before).toBeLessThan(4 * MAX_MAIN_THREAD_MS_PER_LINE);
  // The model's window is smaller: an answer by the `scripted` engine would take time itself.
  const answers = await readLines(client, batch.error_file_id);
  expect(answers.map(({ response }) => response?.body.error)).toEqual(
    Array(4).fill(expect.objectContaining({ code: "context_length_exceeded" })),
  );
});
