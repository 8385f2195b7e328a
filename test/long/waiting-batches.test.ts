/** Batches whose project has used up its requests of a day, on a service with one place for batches. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { chatLine, createBatch, readAnswers, untilEnded } from "../support/service/batches.ts";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";

const CONFIG = `
builtin_models: false
batches: { concurrent_batches: 1 }
limits: { key: { requests_per_day: 20 } }
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }
`;

let service: Service;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
});
afterAll(() => service.stop());

async function administer(path: string, body: object) {
  const answer = await service.fetch(`/v1/organization${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: the service checks its answers against their schemas
  return (await answer.json()) as any;
}

test("leave their place to other projects, and are cancelled at once while they wait", async () => {
  const over = service.client();
  const lines = Array.from({ length: 20 }, (_, index) => chatLine(`${index}`, `Line ${index}`));
  const { id } = await createBatch(over, lines, { completion_window: "168h" });
  await eventually(async () =>
    expect((await over.batches.retrieve(id)).request_counts?.completed).toBeGreaterThanOrEqual(5),
  );
  const second = await createBatch(over, lines, { completion_window: "168h" });

  const project = await administer("/projects", { name: "Other" });
  const { api_key: key } = await administer(`/projects/${project.id}/service_accounts`, { name: "Other" });
  const other = service.client({ apiKey: key.value });
  const ended = await untilEnded(other, await createBatch(other, [chatLine("a", "Hello")]));
  expect(await readAnswers(other, ended)).toEqual(new Map([["a", "Hello"]]));

  const before = await over.batches.retrieve(id);
  expect(before.status).toBe("in_progress");
  await over.batches.cancel(id);
  const cancelled = await untilEnded(over, { id }, 10);
  const completed = before.request_counts?.completed ?? 0;
  expect(cancelled).toMatchObject({
    status: "cancelled",
    request_counts: { total: 20, completed, failed: 20 - completed },
  });
  expect((await readAnswers(over, cancelled)).size).toBe(completed);
  expect((await over.batches.retrieve(second.id)).status).not.toBe("completed");
});
