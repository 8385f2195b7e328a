/** Client secrets of the Realtime API, which stand for a key in browsers. */

import type OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { RealtimeClient, silence } from "../support/service/realtime-client.ts";
import { type Service, startService } from "../support/service/service.ts";
import { administrator } from "../support/service/team-services.ts";

let service: Service;
beforeAll(async () => {
  service = await startService({
    config: `
builtin_models: false
models:
  - { id: hears, task: transcription, deployments: [{ engine: scripted, replies: [{ text: "One." }] }] }
  - { id: talks, task: chat, deployments: [{ engine: scripted, echo: true }] }
  - { id: mumbles, task: chat, deployments: [{ engine: scripted, echo: true }] }
  - { id: speaks, task: speech, deployments: [{ engine: scripted, speech: {} }] }
`,
  });
});
afterAll(() => service.stop());

const FIXED: OpenAI.Realtime.RealtimeSessionCreateRequest = {
  type: "realtime",
  model: "talks",
  instructions: "Whisper.",
  max_output_tokens: 20,
  output_modalities: ["text"],
  audio: { input: { transcription: { model: "hears" } } },
};

function withSecret(secret: string): { protocols: string[] } {
  return { protocols: ["realtime", `openai-insecure-api-key.${secret}`] };
}

test("a secret opens sessions with its configuration, and nothing else", async () => {
  const { value, expires_at, session } = await service.client().realtime.clientSecrets.create({
    expires_after: { anchor: "created_at", seconds: 60 },
    session: { type: "realtime", model: "talks", instructions: "Whisper.", output_modalities: ["text"] },
  });
  expect(value).toMatch(/^ek_/);
  expect(expires_at - Date.now() / 1000).toBeGreaterThan(50);
  expect(session).toMatchObject({ type: "realtime", model: "talks", instructions: "Whisper." });
  for (const options of [withSecret(value), { apiKey: value }]) {
    const client = await RealtimeClient.connect(service, { query: "", ...options });
    const created = await client.next("session.created");
    expect(created.session).toMatchObject({ model: "talks", instructions: "Whisper.", output_modalities: ["text"] });
    await client.close();
  }
  const answer = await service.fetch("/v1/models", { headers: { authorization: `Bearer ${value}` } });
  expect(answer.status).toBe(401);
});

test.each([
  ["the model", { session: { type: "realtime", model: "mumbles" } }, "session.model"],
  ["instructions", { session: { type: "realtime", instructions: "Shout." } }, "session.instructions"],
  ["the length", { session: { type: "realtime", max_output_tokens: 4000 } }, "session.max_output_tokens"],
  [
    "the transcription's model",
    { session: { type: "realtime", audio: { input: { transcription: { model: "mumbles" } } } } },
    "session.audio.input.transcription.model",
  ],
  ["instructions of a response", { response: { instructions: "Shout." } }, "response.instructions"],
])("a session with a secret cannot change %s", async (_what, event, param) => {
  const { value } = await service.client().realtime.clientSecrets.create({ session: FIXED });
  const client = await RealtimeClient.connect(service, { query: "model=talks", ...withSecret(value) });
  await client.next("session.created");
  client.send({ type: "session" in event ? "session.update" : "response.create", ...event });
  expect((await client.next("error")).error).toMatchObject({ code: "fixed_by_client_secret", param });
  // What the secret leaves open can change, beside what it fixes.
  const input = { transcription: { language: "de" } };
  client.send({ type: "session.update", session: { type: "realtime", model: "talks", audio: { input } } });
  expect((await client.next("session.updated")).session).toMatchObject({
    model: "talks",
    instructions: "Whisper.",
    audio: { input: { transcription: { model: "hears", language: "de" } } },
  });
  await client.close();
});

test("a secret refuses another model in the URL", async () => {
  const { value } = await service.client().realtime.clientSecrets.create({ session: FIXED });
  const client = await RealtimeClient.connect(service, { query: "model=mumbles", ...withSecret(value) });
  expect((await client.next("error")).error).toMatchObject({ code: "fixed_by_client_secret", param: "session.model" });
  await client.close();
});

test("the model of the URL cannot change either in a session with a secret", async () => {
  const { value, session } = await service.client().realtime.clientSecrets.create({});
  expect(session).toMatchObject({ id: expect.stringMatching(/^sess_/), object: "realtime.session" });
  const client = await RealtimeClient.connect(service, { query: "model=talks", ...withSecret(value) });
  await client.next("session.created");
  client.send({ type: "session.update", session: { type: "realtime", model: "mumbles" } });
  expect((await client.next("error")).error).toMatchObject({ code: "fixed_by_client_secret", param: "session.model" });
  await client.close();
});

test("a secret without a configuration opens a session of the model in the URL", async () => {
  const { value } = await service.client().realtime.clientSecrets.create({});
  const client = await RealtimeClient.connect(service, { query: "model=talks", ...withSecret(value) });
  expect((await client.next("session.created")).session).toMatchObject({ type: "realtime", model: "talks" });
  await client.close();
});

test.each([
  [{ expires_after: { seconds: 5 } }, "expires_after.seconds"],
  [{ session: { type: "translation" } }, "session.type"],
  [{ session: { type: "realtime", model: "missing" } }, "session.model"],
  [{ session: { type: "realtime", tools: [{ type: "mcp" }] } }, "session.tools[0].server_label"],
  [{ session: { type: "realtime", tools: [{ type: "web_search" }] } }, "session.tools[0].type"],
])("refuses %o with the name of the field", async (body, param) => {
  const answer = await service.post("/v1/realtime/client_secrets", body);
  expect([400, 404]).toContain(answer.status);
  expect(((await answer.json()) as { error: object }).error).toMatchObject({ param });
});

test("a secret has the permissions of its project, and ends with its key", async () => {
  const admin = administrator(service);
  const project = await admin.projects.create({ name: "Others" });
  await admin.projects.modelPermissions.update(project.id, { mode: "allow_list", model_ids: ["hears"] });
  const { api_key: key } = await admin.projects.serviceAccounts.create(project.id, { name: "Web" });
  const other = service.client({ apiKey: key?.value ?? "" });
  const { value } = await other.realtime.clientSecrets.create({ session: { type: "transcription" } });
  await expect(other.realtime.clientSecrets.create({ session: { type: "realtime", model: "talks" } })).rejects.toThrow(
    "does not exist or you do not have access",
  );
  const client = await RealtimeClient.connect(service, { query: "", ...withSecret(value) });
  const input = { turn_detection: null };
  client.send({ type: "session.update", session: { type: "transcription", audio: { input } } });
  await client.next("session.updated");
  const say = () => {
    client.sendAudio(silence(1));
    client.send({ type: "input_audio_buffer.commit" });
  };
  say();
  await client.next("conversation.item.input_audio_transcription.completed");
  const start = Math.floor(Date.now() / 1000) - 3600;
  const path = `/v1/organization/usage/audio_transcriptions?start_time=${start}&project_ids=${project.id}`;
  const headers = { authorization: `Bearer ${service.adminKey}` };
  await eventually(async () => {
    expect(await (await service.fetch(path, { headers })).text()).toContain('"seconds":1,');
  });
  await admin.projects.apiKeys.delete(key?.id ?? "", { project_id: project.id });
  say();
  expect((await client.next("error")).error).toMatchObject({ code: "invalid_api_key" });
  expect((await client.closed).code).toBe(1008);
  const again = RealtimeClient.connect(service, { query: "", ...withSecret(value) });
  await expect(again).rejects.toThrow("401");
});
