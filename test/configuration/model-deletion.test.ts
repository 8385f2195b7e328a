/** DELETE /v1/models/{model} through the official client: what may be deleted, and by whom. */

import { randomBytes } from "node:crypto";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HubServer } from "../support/models/hub-server.ts";
import { type Service, startService } from "../support/service/service.ts";
import { administrator } from "../support/service/team-services.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/service/temporary-directory.ts";

let hub: HubServer;
let models: TemporaryDirectory;
let service: Service;
let admin: OpenAI;
beforeAll(async () => {
  hub = await HubServer.start();
  models = await temporaryDirectory();
  service = await startService({
    environment: { PARLANCE_MODELS_DIR: models.path, HF_ENDPOINT: hub.endpoint },
    config: `
builtin_models: false
models:
  - { id: parrot, task: chat, aliases: [bird], deployments: [{ engine: scripted, echo: true }] }
`,
  });
  admin = new OpenAI({ baseURL: service.baseUrl, apiKey: service.adminKey, maxRetries: 0 });
});
afterAll(async () => {
  await service?.stop();
  await hub?.[Symbol.asyncDispose]();
  await models?.[Symbol.asyncDispose]();
});

function add(id: string, deployment: object = { engine: "scripted", echo: true }) {
  return service.fetch("/v1/organization/models", {
    method: "POST",
    headers: { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" },
    body: JSON.stringify({ id, task: "chat", deployments: [deployment] }),
  });
}

test("deletes a model that was added through the API, once, with its audit", async () => {
  const id = "team/owl";
  expect((await add(id)).status).toBe(200);
  expect((await service.client().models.retrieve(id)).id).toBe(id);
  expect(await admin.models.delete(id)).toEqual({ id, object: "model", deleted: true });
  await expect(service.client().models.retrieve(id)).rejects.toMatchObject({ status: 404 });
  await expect(admin.models.delete(id)).rejects.toMatchObject({ status: 404, code: "model_not_found" });
  const { data } = await administrator(service).auditLogs.list({ limit: 1 });
  expect(data[0]?.type).toContain("configuration");
});

test("refuses models of the configuration file, other names and unknown ones, and says why", async () => {
  const refusal = { status: 403, code: "model_not_deletable", message: expect.stringContaining("parlance.yaml") };
  await expect(admin.models.delete("parrot")).rejects.toMatchObject(refusal);
  await expect(admin.models.delete("bird")).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining("`parrot`"),
  });
  await expect(admin.models.delete("none")).rejects.toMatchObject({ status: 404 });
  await expect(admin.models.delete("../../etc/passwd")).rejects.toMatchObject({ status: 404 });
  expect((await service.client().models.retrieve("parrot")).id).toBe("parrot");
});

test("refuses project keys, and admin keys of other organizations do not learn of the model", async () => {
  expect((await add("owl")).status).toBe(200);
  await expect(service.client({ maxRetries: 0 }).models.delete("owl")).rejects.toMatchObject({ status: 403 });
  await expect(
    new OpenAI({ baseURL: service.baseUrl, apiKey: "sk-wrong", maxRetries: 0 }).models.delete("owl"),
  ).rejects.toMatchObject({ status: 401 });
  expect((await admin.models.delete("owl")).deleted).toBe(true);
});

test("keeps the files of a pulled model while another one runs them", async () => {
  hub.add("owner/repo/resolve/main/small.gguf", randomBytes(20_000));
  const pulled = "hf:owner/repo/small.gguf";
  const ofOrganization = `/v1/organization/models/${encodeURIComponent(pulled)}`;
  const headers = { authorization: `Bearer ${service.adminKey}` };
  const pull = await service.fetch(`${ofOrganization}/pull`, { method: "POST", headers });
  expect(await pull.text()).toContain("[DONE]");
  const deployment = { engine: "llama-cpp", hf: "owner/repo/small.gguf", load: "on_demand" };
  expect((await add("tiny", deployment)).status).toBe(200);
  const refusal = { status: 409, code: "model_in_use", message: expect.stringContaining("`tiny`") };
  await expect(admin.models.delete(pulled)).rejects.toMatchObject(refusal);
  expect((await service.fetch(ofOrganization, { method: "DELETE", headers })).status).toBe(409);
  expect((await admin.models.delete("tiny")).deleted).toBe(true);
  expect((await admin.models.delete(pulled)).deleted).toBe(true);
  await expect(admin.models.delete(pulled)).rejects.toMatchObject({ status: 404 });
});
