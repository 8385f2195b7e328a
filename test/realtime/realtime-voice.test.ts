/** Voice sessions of the Realtime API, which hear, chat and speak, with scripted models. */

import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { RealtimeClient, type RealtimeEvent, silence } from "../support/service/realtime-client.ts";
import { type Service, startService } from "../support/service/service.ts";

const configOf = (idleSeconds: number) => `
builtin_models: false
realtime: { idle_timeout_seconds: ${idleSeconds} }
models:
  - id: hears
    task: transcription
    deployments:
      - engine: scripted
        replies: [{ match: slow, text: "One. Two.", delay_ms_per_token: 20000 }, { text: "Hello there." }]
  - id: talks
    task: chat
    price: { prompt: "0.01", completion: "0.01" }
    deployments:
      - engine: scripted
        abilities: { tools: true }
        context_window: 100
        replies:
          - { match_tool: /sunny/, text: "It is sunny." }
          - { match: weather, tool_calls: [{ name: weather, arguments: { city: Bonn } }] }
          - { match: long, text: "First sentence here. Second sentence there. Third one at the end. ", delay_ms_per_token: 150 }
          - { match: breaks, text: "One two three.", fail_after_tokens: 2 }
          - { match: cut, text: "One two", finish_reason: length }
          - { text: "Good day. How are you?" }
  - id: speaks
    task: speech
    deployments: [{ engine: scripted, speech: { sample_rate: 16000 } }]
  - id: mute
    task: chat
    deployments: [{ engine: scripted, echo: true }]
`;

let service: Service;
beforeAll(async () => {
  service = await startService({ config: configOf(600) });
});
afterAll(() => service.stop());

async function open(session: object = {}, at = service): Promise<RealtimeClient> {
  const client = await RealtimeClient.connect(at, { query: "model=talks" });
  const audio = { input: { turn_detection: null } };
  client.send({ type: "session.update", session: { type: "realtime", audio, ...session } });
  await client.next("session.updated");
  return client;
}

function say(client: RealtimeClient, text: string): void {
  const content = [{ type: "input_text", text }];
  client.send({ type: "conversation.item.create", item: { type: "message", role: "user", content } });
}

function ofType(client: RealtimeClient, type: string): RealtimeEvent[] {
  return client.events.filter((event) => event.type === type);
}

test("answers speech with speech", async () => {
  const client = await open();
  client.sendAudio(silence(1));
  client.send({ type: "input_audio_buffer.commit" });
  client.send({ type: "response.create" });
  const { response } = await client.next("response.done");
  expect(response).toMatchObject({
    object: "realtime.response",
    status: "completed",
    output: [
      {
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_audio", transcript: "Good day. How are you?" }],
      },
    ],
    usage: { input_token_details: { audio_tokens: 0 } },
  });
  expect(response.usage.input_tokens).toBeGreaterThan(0);
  const types = client.types().split(" ");
  const order = [
    "session.created",
    "conversation.created",
    "session.updated",
    "input_audio_buffer.committed",
    "response.created",
    "response.output_item.added",
    "conversation.item.added",
    "response.content_part.added",
    "response.output_audio_transcript.delta",
    "response.output_audio.delta",
    "response.output_audio.done",
    "response.output_audio_transcript.done",
    "response.content_part.done",
    "response.output_item.done",
    "conversation.item.done",
    "response.done",
  ];
  let position = -1;
  for (const type of order) {
    const next = types.indexOf(type, position + 1);
    expect(next, `${type} in ${types.join(" ")}`).toBeGreaterThan(position);
    position = next;
  }
  // The response waits for the transcript, which may come before its request.
  const transcribedAt = types.indexOf("conversation.item.input_audio_transcription.completed");
  expect(transcribedAt).toBeGreaterThan(types.indexOf("input_audio_buffer.committed"));
  expect(transcribedAt).toBeLessThan(types.indexOf("response.output_item.added"));
  const transcript = ofType(client, "response.output_audio_transcript.delta").map(({ delta }) => delta);
  expect(transcript.join("")).toBe("Good day. How are you?");
  const audio = Buffer.concat(
    ofType(client, "response.output_audio.delta").map(({ delta }) => Buffer.from(delta, "base64")),
  );
  // The scripted voice takes 50 ms for each character of a sentence.
  expect(audio.length / 48_000).toBeCloseTo(0.05 * "Good day.How are you?".length, 1);
  await client.close();
});

test("answers in text, and takes the conversation into account", async () => {
  const client = await open({ output_modalities: ["text"] });
  say(client, "Hi");
  client.send({ type: "response.create" });
  const { response } = await client.next("response.done");
  expect(response.output[0].content).toEqual([{ type: "output_text", text: "Good day. How are you?" }]);
  expect(ofType(client, "response.output_text.done")[0]).toMatchObject({ text: "Good day. How are you?" });
  const before = response.usage.input_tokens;
  client.send({ type: "response.create" });
  expect((await client.next("response.done")).response.usage.input_tokens).toBeGreaterThan(before);
  client.send({ type: "response.create", response: { conversation: "none", input: [], instructions: "" } });
  const { response: alone } = await client.next("response.done");
  expect(alone).toMatchObject({ conversation_id: null, usage: { input_tokens: 0 } });
  await client.close();
});

test("calls functions, and continues with their outputs", async () => {
  const tools = [{ type: "function", name: "weather", parameters: { type: "object" } }];
  const client = await open({ output_modalities: ["text"], tools });
  say(client, "the weather?");
  client.send({ type: "response.create" });
  const { response } = await client.next("response.done");
  const [call] = response.output;
  expect(call).toMatchObject({ type: "function_call", name: "weather", arguments: '{"city":"Bonn"}' });
  expect(ofType(client, "response.function_call_arguments.done")[0]).toMatchObject({
    call_id: call.call_id,
    name: "weather",
    arguments: '{"city":"Bonn"}',
  });
  const item = { type: "function_call_output", call_id: call.call_id, output: "sunny" };
  client.send({ type: "conversation.item.create", item });
  client.send({ type: "response.create" });
  const { response: second } = await client.next("response.done");
  expect(second.output[0].content[0].text).toBe("It is sunny.");
  await client.close();
});

test("cancels a response, and truncates what was not heard", async () => {
  const client = await open();
  say(client, "long");
  client.send({ type: "response.create" });
  const { response_id } = await client.next("response.output_audio.delta");
  client.send({ type: "response.create" });
  expect((await client.next("error")).error.code).toBe("conversation_already_has_active_response");
  client.send({ type: "response.cancel", response_id });
  const { response } = await client.next("response.done");
  expect(response).toMatchObject({
    status: "cancelled",
    status_details: { type: "cancelled", reason: "client_cancelled" },
    output: [{ status: "incomplete" }],
  });
  const [{ id, content }] = response.output;
  expect(content[0].transcript).toBe("First sentence here.");
  // A third of the sentence's second: one of its three words.
  client.send({ type: "conversation.item.truncate", item_id: id, content_index: 0, audio_end_ms: 500 });
  await client.next("conversation.item.truncated");
  client.send({ type: "conversation.item.retrieve", item_id: id });
  expect((await client.next("conversation.item.retrieved")).item.content[0].transcript).toBe("First");
  client.send({ type: "conversation.item.truncate", item_id: id, content_index: 0, audio_end_ms: 60_000 });
  expect((await client.next("error")).error.param).toBe("audio_end_ms");
  client.send({ type: "response.cancel" });
  expect((await client.next("error")).error.code).toBe("response_cancel_not_active");
  await client.close();
});

test.each([
  ["fails", "breaks", { status: "failed", status_details: { error: { message: "The configured failure." } } }],
  ["ends early", "cut", { status: "incomplete", status_details: { reason: "max_output_tokens" } }],
])("reports an answer that %s", async (_name, text, expected) => {
  const client = await open({ output_modalities: ["text"] });
  say(client, text);
  client.send({ type: "response.create" });
  expect((await client.next("response.done")).response).toMatchObject(expected);
  await client.close();
});

test("shortens a conversation that exceeds the context window, unless truncation is disabled", async () => {
  const client = await open({ output_modalities: ["text"], instructions: "" });
  for (let index = 0; index < 6; index += 1) say(client, "words ".repeat(25));
  client.send({ type: "response.create" });
  expect((await client.next("response.done")).response.status).toBe("completed");
  client.send({ type: "session.update", session: { type: "realtime", truncation: "disabled" } });
  client.send({ type: "response.create" });
  expect((await client.next("response.done")).response.status_details.error.code).toBe("context_length_exceeded");
  await client.close();
});

test("changes the items of the conversation", async () => {
  const client = await open();
  const create = (id: string, previous?: string) => {
    const content = [{ type: "input_text", text: id }];
    client.send({
      type: "conversation.item.create",
      ...(previous === undefined ? {} : { previous_item_id: previous }),
      item: { id, type: "message", role: "user", content },
    });
  };
  create("b");
  create("c");
  create("a", "root");
  expect((await client.next("conversation.item.added")).previous_item_id).toBe(null);
  expect((await client.next("conversation.item.added")).previous_item_id).toBe("b");
  expect((await client.next("conversation.item.added")).previous_item_id).toBe(null);
  create("c");
  expect((await client.next("error")).error.param).toBe("item.id");
  client.send({ type: "conversation.item.delete", item_id: "b" });
  await client.next("conversation.item.deleted");
  client.send({ type: "conversation.item.retrieve", item_id: "b" });
  expect((await client.next("error")).error).toMatchObject({ param: "item_id", code: "item_not_found" });
  await client.close();
});

test("reads each item that a response names once", async () => {
  const client = await open({ output_modalities: ["text"] });
  const content = [{ type: "input_text", text: "What about the weather?" }];
  const item = { type: "message", role: "user", content };
  client.send({ type: "conversation.item.create", item: { id: "asked", ...item } });
  const named = { type: "item_reference", id: "asked" };
  client.send({ type: "response.create", response: { conversation: "none", input: [named, item, named] } });
  const { error } = await client.next("error");
  expect(error).toMatchObject({ code: "invalid_value", param: "response.input[2].id" });
  client.send({ type: "response.create", response: { conversation: "none", input: [named, item, item] } });
  expect((await client.next("response.done")).response.status).toBe("completed");
  await client.close();
});

test("transcribes the audio of an item", async () => {
  const client = await open({ output_modalities: ["text"] });
  const content = [{ type: "input_audio", audio: silence(1).toString("base64") }];
  client.send({ type: "conversation.item.create", item: { type: "message", role: "user", content } });
  const { transcript } = await client.next("conversation.item.input_audio_transcription.completed");
  expect(transcript).toBe("Hello there.");
  await client.close();
});

test("takes no further audio while transcriptions wait, also of items that are deleted", async () => {
  const client = await open({ audio: { input: { turn_detection: null, transcription: { prompt: "slow" } } } });
  const content = [{ type: "input_audio", audio: silence(0.2).toString("base64") }];
  for (let index = 0; index < 20; index += 1) {
    client.send({ type: "conversation.item.create", item: { id: "again", type: "message", role: "user", content } });
    client.send({ type: "conversation.item.delete", item_id: "again" });
  }
  const deletions = () => ofType(client, "conversation.item.deleted").length;
  await expect.poll(deletions).toBe(5);
  // Another one would be an answer of an event that is there already.
  await pause(300);
  expect(deletions()).toBe(5);
  await client.close();
});

test("refuses items with too many parts of audio, and binary messages", async () => {
  const client = await open();
  const content = Array.from({ length: 20_000 }, () => ({ type: "input_audio", audio: "AAAA" }));
  client.send({ type: "conversation.item.create", item: { type: "message", role: "user", content } });
  expect((await client.next("error")).error).toMatchObject({
    param: "item.content",
    message: expect.stringMatching(/^An item may have at most 16 parts .* not 20000 parts/),
  });
  client.socket.send(silence(0.1));
  expect((await client.next("error")).error.message).toMatch(/^Binary messages are not supported/);
  await client.close();
});

test("ends the response of a client that leaves, and counts what it used", async () => {
  const client = await open();
  say(client, "long");
  client.send({ type: "response.create" });
  await client.next("response.output_audio.delta");
  client.socket.terminate();
  await eventually(async () => {
    const metrics = await (await service.fetch("/metrics")).text();
    expect(metrics).toMatch(/parlance_slots_in_use\{model="talks",[^}]*\} 0/);
    expect(metrics).toMatch(/parlance_realtime_sessions 0/);
    expect(metrics).toMatch(/parlance_tokens_total\{model="talks",[^}]*direction="completion"\} [1-9]/);
  });
});

test("closes a session that names no model, or one that it may not use", async () => {
  for (const [query, code] of [
    ["", "model_required"],
    ["model=missing", "model_not_found"],
    ["intent=speaking", "invalid_value"],
  ] as const) {
    const client = await RealtimeClient.connect(service, { query });
    expect((await client.next("error")).error.code).toBe(code);
    expect(await client.closed).toEqual({ code: 1008, reason: code });
  }
});

test("closes an idle session", async () => {
  const service = await startService({ config: configOf(3) });
  onTestFinished(() => service.stop());
  const client = await open({}, service);
  expect((await client.next("error")).error.code).toBe("session_idle");
  expect((await client.closed).code).toBe(1008);
});
