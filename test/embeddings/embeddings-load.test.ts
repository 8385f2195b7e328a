/** Long embeddings of one project beside short ones of another, and of clients that disconnect. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { expectBelow } from "../support/timing.ts";

const LOCAL = "minilm";

let service: Service;
beforeAll(async () => {
  const config = `
builtin_models: false
models:
  - { id: ${LOCAL}, task: embedding, deployments: [{ engine: sentence-embeddings }] }
`;
  service = await startService({ config });
  await eventually(async () => {
    expect((await service.post("/v1/embeddings", { model: LOCAL, input: "a" })).status).toBe(200);
  });
});
afterAll(() => service.stop());

const administer = (path: string, body: object) =>
  service.post(`/v1/organization/${path}`, body, {
    headers: { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" },
  });

async function newKey(): Promise<string> {
  const project = (await (await administer("projects", { name: "another" })).json()) as { id: string };
  const account = await administer(`projects/${project.id}/service_accounts`, { name: "robot" });
  return ((await account.json()) as { api_key: { value: string } }).api_key.value;
}

test("answers a short request within a few batches of another project's long ones", async () => {
  const other = service.client({ apiKey: await newKey(), maxRetries: 0 });
  const leaving = new AbortController();
  const input = Array.from({ length: 2048 }, () => "word ".repeat(200));
  const long = Array.from({ length: 6 }, () =>
    service.post("/v1/embeddings", { model: LOCAL, input }, { signal: leaving.signal }).catch(() => {}),
  );
  await eventually(async () => expect(await slotsInUse()).toBe(6));
  const startedAt = performance.now();
  await other.embeddings.create({ model: LOCAL, input: "a cat" });
  const seconds = (performance.now() - startedAt) / 1000;
  leaving.abort();
  await Promise.all(long);
  await eventually(async () => expect(await slotsInUse()).toBe(0));
  await eventually(() => expect(disconnects()).toBe(long.length));
  // The long requests take minutes together, and 40 seconds passed when they took no turns.
  expectBelow(seconds * 1000, 15_000);
});

test("stops when the client disconnects", async () => {
  const before = disconnects();
  const leaving = new AbortController();
  const input = Array.from({ length: 2048 }, () => "word ".repeat(200));
  const init = { signal: leaving.signal };
  const answer = service.post("/v1/embeddings", { model: LOCAL, input }, init).catch((error: Error) => error.name);
  await eventually(async () => expect(await slotsInUse()).toBe(1));
  leaving.abort();
  expect(await answer).toBe("AbortError");
  await eventually(async () => expect(await slotsInUse()).toBe(0));
  await eventually(() => expect(disconnects()).toBe(before + 1));
});

function disconnects(): number {
  return service.log().filter(({ status, model }) => status === 499 && model === LOCAL).length;
}

async function slotsInUse(): Promise<number> {
  const text = await (await fetch(`${service.origin}/metrics`)).text();
  const line = text
    .split("\n")
    .find((each) => each.startsWith("parlance_slots_in_use{") && each.includes(`"${LOCAL}"`));
  return Number(line?.split(" ").at(-1) ?? 0);
}
