/** Transcription sessions of the Realtime API over a real WebSocket. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { RealtimeClient, silence } from "../support/service/realtime-client.ts";
import { type Service, startService } from "../support/service/service.ts";

const MANUAL = { type: "transcription", audio: { input: { turn_detection: null } } };

let service: Service;
beforeAll(async () => {
  service = await startService({
    config: `
builtin_models: false
realtime: { max_sessions_per_project: 5 }
models:
  - id: hears
    task: transcription
    price: { second: "0.01" }
    deployments:
      - engine: scripted
        replies:
          - { match: breaks, fail_after_tokens: 0 }
          - { match: slow, text: "One. Two.", delay_ms_per_token: 20000 }
          - { match: nothing, text: "" }
          - { text: "One two. Three." }
  - { id: chat, task: chat, deployments: [{ engine: scripted, echo: true }] }
`,
  });
});
afterAll(() => service.stop());

/** Opens a session whose audio the client commits. */
async function openManual(session: object = MANUAL): Promise<RealtimeClient> {
  const client = await RealtimeClient.connect(service);
  client.send({ type: "session.update", session });
  await client.next("session.updated");
  return client;
}

function withPrompt(prompt: string): object {
  return { type: "transcription", audio: { input: { turn_detection: null, transcription: { prompt } } } };
}

test("transcribes committed audio with deltas, and counts it", async () => {
  const client = await openManual();
  client.sendAudio(silence(2));
  client.send({ type: "input_audio_buffer.commit" });
  const committed = await client.next("input_audio_buffer.committed");
  expect(committed.previous_item_id).toBe(null);
  const { item } = await client.next("conversation.item.added");
  expect(item).toEqual({
    id: committed.item_id,
    object: "realtime.item",
    type: "message",
    role: "user",
    status: "completed",
    content: [{ type: "input_audio", transcript: null }],
  });
  const completed = await client.next("conversation.item.input_audio_transcription.completed");
  expect(completed).toMatchObject({
    item_id: item.id,
    content_index: 0,
    transcript: "One two. Three.",
    usage: { type: "duration", seconds: 2 },
  });
  const deltas = client.events.filter(({ type }) => type === "conversation.item.input_audio_transcription.delta");
  expect(deltas.map(({ delta }) => delta)).toEqual(["One two.", " Three."]);
  expect(client.types().split(" ").slice(0, 6)).toEqual([
    "session.created",
    "session.updated",
    "input_audio_buffer.committed",
    "conversation.item.added",
    "conversation.item.done",
    "conversation.item.input_audio_transcription.delta",
  ]);
  await client.close();
});

test("refuses a commit of less than 100 ms, and after a clear", async () => {
  const client = await openManual();
  client.sendAudio(silence(1));
  client.send({ type: "input_audio_buffer.clear" });
  await client.next("input_audio_buffer.cleared");
  client.send({ type: "input_audio_buffer.commit", event_id: "mine" });
  const { error } = await client.next("error");
  expect(error).toMatchObject({ code: "input_audio_buffer_commit_empty", event_id: "mine" });
  await client.close();
});

test.each([
  ["not JSON", "{", { code: "invalid_json", param: null }],
  ["an unknown type", { type: "input_audio_buffer.destroy" }, { param: "type" }],
  ["a missing field", { type: "input_audio_buffer.append" }, { param: "audio", code: "missing_required_parameter" }],
  ["audio that is not base64", { type: "input_audio_buffer.append", audio: "é" }, { param: "audio" }],
  [
    "a type of session that differs",
    { type: "session.update", session: { type: "realtime" } },
    { param: "session.type" },
  ],
  [
    "a threshold beyond 1",
    {
      type: "session.update",
      session: { type: "transcription", audio: { input: { turn_detection: { type: "server_vad", threshold: 2 } } } },
    },
    { param: "session.audio.input.turn_detection.threshold" },
  ],
  [
    "an unknown model",
    { type: "session.update", session: { type: "transcription", audio: { input: { transcription: { model: "x" } } } } },
    { param: "session.audio.input.transcription.model", code: "model_not_found" },
  ],
  [
    "a model of another task",
    {
      type: "session.update",
      session: { type: "transcription", audio: { input: { transcription: { model: "chat" } } } },
    },
    { param: "session.audio.input.transcription.model", code: "unsupported_value" },
  ],
  ["an event of another kind of session", { type: "response.create" }, { param: "type" }],
])("answers %s with an error event that names the field, and goes on", async (_name, event, error) => {
  const client = await RealtimeClient.connect(service);
  await client.next("session.created");
  if (typeof event === "string") client.socket.send(event);
  else client.send({ event_id: "mine", ...event });
  expect((await client.next("error")).error).toMatchObject({ type: "invalid_request_error", ...error });
  client.send({ type: "session.update", session: MANUAL });
  await client.next("session.updated");
  await client.close();
});

test("reports a model that fails, and transcribes the next audio", async () => {
  const client = await openManual(withPrompt("breaks"));
  client.sendAudio(silence(1));
  client.send({ type: "input_audio_buffer.commit" });
  const failed = await client.next("conversation.item.input_audio_transcription.failed");
  expect(failed.error.message).toContain("The configured failure.");
  client.send({ type: "session.update", session: withPrompt("works") });
  client.sendAudio(silence(1));
  client.send({ type: "input_audio_buffer.commit" });
  await client.next("conversation.item.input_audio_transcription.completed");
  await client.close();
});

test("ends the transcription of a client that leaves", async () => {
  const client = await openManual(withPrompt("slow"));
  client.sendAudio(silence(1));
  client.send({ type: "input_audio_buffer.commit" });
  await client.next("conversation.item.input_audio_transcription.delta");
  client.socket.terminate();
  await eventually(async () => {
    const metrics = await (await service.fetch("/metrics")).text();
    expect(metrics).toMatch(/parlance_slots_in_use\{model="hears",[^}]*\} 0/);
    expect(metrics).toMatch(/parlance_realtime_sessions 0/);
  });
});

test("authenticates by a protocol, which does not come back", async () => {
  const protocols = ["realtime", `openai-insecure-api-key.${service.apiKey}`];
  const client = await RealtimeClient.connect(service, { protocols });
  expect(client.socket.protocol).toBe("realtime");
  await client.next("session.created");
  await client.close();
});

test.each([
  ["a wrong key", { apiKey: "sk-wrong" }, 401],
  ["no key", { protocols: ["realtime"] }, 401],
  ["an admin key", { apiKey: `sk-admin-test-${"b".repeat(32)}` }, 401],
  ["a page of another origin", { headers: { origin: "https://elsewhere.example" } }, 403],
])("refuses %s before the handshake", async (_name, options, status) => {
  const connecting = RealtimeClient.connect(service, options);
  await expect(connecting).rejects.toThrow(`Unexpected server response: ${status}`);
});

test("answers a request that is no WebSocket", async () => {
  const answer = await service.fetch("/v1/realtime?intent=transcription");
  expect(answer.status).toBe(400);
  expect(((await answer.json()) as { error: { message: string } }).error.message).toContain("WebSocket");
});

test("serves other routes to clients that offer an upgrade", async () => {
  const headers = { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "http2-settings": "" };
  const { request } = await import("node:http");
  const status = await new Promise((resolve) => {
    const sent = request(`${service.origin}/health/live`, { headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.end();
  });
  expect(status).toBe(200);
});

test("refuses sessions beyond the project's limit", async () => {
  const clients = await Promise.all(Array.from({ length: 5 }, () => RealtimeClient.connect(service)));
  for (const client of clients) await client.next("session.created");
  const sixth = await RealtimeClient.connect(service);
  expect((await sixth.next("error")).error.code).toBe("too_many_sessions");
  expect(await sixth.closed).toEqual({ code: 1013, reason: "too_many_sessions" });
  await Promise.all(clients.map((client) => client.close()));
});
