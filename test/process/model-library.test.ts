/** Models that can be pulled, and pulls that go on without their client. */

import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HubServer } from "../support/models/hub-server.ts";
import { type Service, startService } from "../support/service/service.ts";

const REMOTE = "hf:owner/repo/small.gguf";
let hub: HubServer;
let models: string;
let service: Service;

beforeAll(async () => {
  hub = await HubServer.start();
  models = await mkdtemp(join(tmpdir(), "parlance-models-"));
  service = await startService({
    config: "builtin_models: false\n",
    environment: { PARLANCE_MODELS_DIR: models, HF_ENDPOINT: hub.endpoint },
  });
});
afterAll(async () => {
  await service.stop();
  await hub[Symbol.asyncDispose]();
  await rm(models, { recursive: true, force: true });
});

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
async function send(method: string, path = "", key = service.adminKey): Promise<any> {
  const response = await service.fetch(`/v1/organization/models${path}`, {
    method,
    headers: { authorization: `Bearer ${key}` },
  });
  return { status: response.status, ...((await response.json()) as object) };
}

const pathOf = (id: string) => `/${encodeURIComponent(id)}/pull`;
const pullOf = async (id: string) =>
  (await send("GET")).data.find((model: { id: string }) => model.id === id)?.pull ?? undefined;

test("lists what the models of the manifest need and how fast they are here, to administrators only", async () => {
  const { machine, data } = await send("GET");
  expect(machine).toMatchObject({ cores: expect.any(Number), free_bytes: expect.any(Number) });
  const small = data.find(({ id }: { id: string }) => id === "smollm2-135m-instruct");
  expect(small).toMatchObject({ task: "chat", license: "Apache-2.0", fits: true, is_pulled: false, pull: null });
  expect(small.tokens_per_second).toBeGreaterThan(10);
  expect(new Set(data.map(({ task }: { task: string }) => task)).size).toBeGreaterThan(2);
  expect((await send("GET", "", service.apiKey)).status).toBe(403);
});

test("goes on with a pull in the background, reports its progress, and lists it once it is done", async () => {
  const held = Promise.withResolvers<void>();
  hub.hold = held.promise;
  hub.add("owner/repo/resolve/main/small.gguf", randomBytes(200_000));
  expect(await send("POST", `${pathOf(REMOTE)}?background=true`)).toMatchObject({ status: 200, state: "running" });
  await expect.poll(() => pullOf(REMOTE)).toMatchObject({ state: "running", received_bytes: 1, total_bytes: 200_000 });
  // A second one joins it.
  expect(await send("POST", `${pathOf(REMOTE)}?background=true`)).toMatchObject({ status: 200 });
  held.resolve();
  hub.hold = undefined;
  await expect.poll(() => pullOf(REMOTE)).toMatchObject({ state: "done", received_bytes: 200_000 });
});

test("cancels a pull, and says why one failed", async () => {
  const held = Promise.withResolvers<void>();
  const other = "hf:owner/repo/other.gguf";
  hub.hold = held.promise;
  hub.add("owner/repo/resolve/main/other.gguf", randomBytes(200_000));
  await send("POST", `${pathOf(other)}?background=true`);
  await expect.poll(() => pullOf(other)).toMatchObject({ state: "running" });
  expect(await send("DELETE", pathOf(other))).toMatchObject({ state: "cancelled" });
  held.resolve();
  hub.hold = undefined;
  expect(await pullOf(other)).toMatchObject({ state: "cancelled", error_message: null });
  expect(await send("DELETE", pathOf(other))).toMatchObject({ status: 404 });
  expect(await send("POST", `${pathOf("no-such-model")}?background=true`)).toMatchObject({ status: 404 });
  expect(await pullOf("no-such-model")).toBeUndefined();
});
