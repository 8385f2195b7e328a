/** Interactive requests beside batches and background responses. */

import type OpenAI from "openai";
import { afterEach, expect, test } from "vitest";
import { chatLine, createBatch, untilEnded } from "../support/service/batches.ts";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { administrator, say } from "../support/service/team-services.ts";

const ANSWER_MS = 300;
let service: ServiceProcess;

afterEach(() => service?.stop());

async function start(slots: number): Promise<void> {
  service = await startServiceProcess({
    config: `
builtin_models: false
models:
  - id: parrot
    task: chat
    max_queue: 1000
    deployments: [{ engine: scripted, slots: ${slots}, replies: [{ delay_ms_before_first: ${ANSWER_MS} }] }]
`,
  });
}

async function measure(client: OpenAI, count: number): Promise<{ median: number; max: number }> {
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const beganAt = performance.now();
    await say(client, "parrot");
    times.push(performance.now() - beganAt);
  }
  times.sort((a, b) => a - b);
  return { median: times[Math.floor(count / 2)] ?? 0, max: times.at(-1) ?? 0 };
}

test.each([1, 2, 4])("answers as fast beside a batch as without it, on %d slots", async (slots) => {
  await start(slots);
  const client = service.client({ maxRetries: 0 });
  const alone = await measure(client, 15);
  const lines = Array.from({ length: 60 * slots }, (_, index) => chatLine(`${index}`, "Hi"));
  const { id } = await createBatch(client, lines);
  await eventually(async () => {
    expect((await client.batches.retrieve(id)).request_counts?.completed).toBeGreaterThan(0);
  });
  const beside = await measure(client, 15);
  const running = await client.batches.retrieve(id);
  expect(running.status).toBe("in_progress");
  console.log(
    `${slots} slots: median ${alone.median.toFixed(0)} ms alone, ${beside.median.toFixed(0)} ms beside a batch`,
  );
  expect(beside.median).toBeLessThan(alone.median + 100);
  expect(beside.max).toBeLessThan(alone.max + 200);
  const batch = await untilEnded(client, { id }, 120);
  expect(batch.request_counts).toEqual({ total: lines.length, completed: lines.length, failed: 0 });
});

test("200 background responses of one project leave a slot to another one", async () => {
  await start(4);
  const client = service.client({ maxRetries: 0 });
  const admin = administrator(service);
  const project = await admin.projects.create({ name: "Other" });
  const account = await admin.projects.serviceAccounts.create(project.id, { name: "other" });
  const other = service.client({ apiKey: account.api_key?.value ?? "", maxRetries: 0 });
  const alone = await measure(other, 5);
  const responses = await Promise.all(
    Array.from({ length: 200 }, () => client.responses.create({ model: "parrot", input: "Hi", background: true })),
  );
  const [others, own] = [await measure(other, 8), await measure(client, 8)];
  console.log(
    `median ${alone.median.toFixed(0)} ms alone, ${others.median.toFixed(0)} ms beside 200 background responses`,
  );
  expect(others.median).toBeLessThan(alone.median + 100);
  expect(own.median).toBeLessThan(alone.median + 100);
  await eventually(async () => {
    const last = await client.responses.retrieve(responses.at(-1)?.id ?? "");
    expect(last.status).toBe("completed");
  }, 60);
});
