/** The Realtime API with the default models, real speech and the official client. */

import { once } from "node:events";
import OpenAI from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
import type { RealtimeServerEvent } from "openai/resources/realtime/realtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DEFAULT_CHAT_MODEL } from "../support/models/default-model.ts";
import { silence } from "../support/service/realtime-client.ts";
import { type Service, startService } from "../support/service/service.ts";
import { startTlsProxy, type TlsProxy } from "../support/upstreams/tls-proxy.ts";

let service: Service;
let proxy: TlsProxy;
let client: OpenAI;
/** PCM at 24 kHz. */
let question: Buffer;
beforeAll(async () => {
  service = await startService({
    config: `
builtin_models: true
local: { load: on_demand, unload_after_seconds: 0 }
models:
  - id: slow
    task: chat
    deployments:
      - engine: scripted
        replies: [{ text: "This is a long answer. It goes on and on. It never stops.", delay_ms_per_token: 300 }]
`,
  });
  proxy = await startTlsProxy(service.origin);
  client = new OpenAI({ baseURL: `${proxy.origin}/v1`, apiKey: service.apiKey });
  const speech = {
    model: "tts-1",
    voice: "alloy",
    response_format: "pcm",
    input: "The weather is nice today.",
  } as const;
  question = Buffer.from(await (await service.client().audio.speech.create(speech)).arrayBuffer());
});
afterAll(async () => {
  proxy.close();
  await service.stop();
});

interface Recorded {
  realtime: OpenAIRealtimeWS;
  events: RealtimeServerEvent[];
  next<Type extends RealtimeServerEvent["type"]>(type: Type): Promise<Extract<RealtimeServerEvent, { type: Type }>>;
}

function connect(target: { model: string } | { intent: "transcription" }): Recorded {
  const realtime = new OpenAIRealtimeWS({ ...target, options: { rejectUnauthorized: false } }, client);
  const events: RealtimeServerEvent[] = [];
  realtime.on("event", (event) => events.push(event));
  realtime.on("error", () => {});
  const next: Recorded["next"] = (type) =>
    new Promise((resolve, reject) => {
      realtime.on("event", (event) => {
        if (event.type === type) resolve(event as never);
      });
      realtime.on("error", (error) => reject(error));
    });
  return { realtime, events, next };
}

function stream({ realtime }: Recorded, pcm: Buffer): void {
  for (let start = 0; start < pcm.length; start += 4800) {
    const audio = pcm.subarray(start, start + 4800).toString("base64");
    realtime.send({ type: "input_audio_buffer.append", audio });
  }
}

test("detects turns, and transcribes them", async () => {
  const session = connect({ intent: "transcription" });
  const created = await session.next("session.created");
  expect(created.session).toMatchObject({
    type: "transcription",
    audio: { input: { turn_detection: { type: "server_vad" } } },
  });
  const both = session.next("conversation.item.input_audio_transcription.completed");
  stream(session, Buffer.concat([silence(1), question, silence(1)]));
  expect((await both).transcript).toMatch(/weather is nice today/i);
  const started = session.events.find(({ type }) => type === "input_audio_buffer.speech_started");
  const stopped = session.events.find(({ type }) => type === "input_audio_buffer.speech_stopped");
  const seconds = question.length / 48_000;
  // The padding of 300 ms before speech, and the silence of 500 ms after it, count.
  expect(started).toMatchObject({ audio_start_ms: expect.closeTo(750, -3) });
  expect(stopped).toMatchObject({ audio_end_ms: expect.closeTo(1000 * (1 + seconds + 0.5), -3) });
  const again = session.next("conversation.item.input_audio_transcription.completed");
  stream(session, Buffer.concat([question, silence(1)]));
  expect((await again).transcript).toMatch(/weather/i);
  session.realtime.close();
  await once(session.realtime.socket, "close");
});

test("answers a spoken question with speech", async () => {
  const session = connect({ model: DEFAULT_CHAT_MODEL });
  await session.next("session.created");
  session.realtime.send({ type: "session.update", session: { type: "realtime", max_output_tokens: 24 } });
  await session.next("session.updated");
  const done = session.next("response.done");
  stream(session, Buffer.concat([question, silence(1)]));
  const { response } = await done;
  expect(["completed", "incomplete"]).toContain(response.status);
  const [message] = response.output ?? [];
  const transcript = (message as { content: { transcript: string }[] }).content[0]?.transcript ?? "";
  expect(transcript.length).toBeGreaterThan(10);
  const audio = session.events.flatMap((event) =>
    event.type === "response.output_audio.delta" ? Buffer.from(event.delta, "base64") : [],
  );
  // Speech has some 15 characters in a second, and it is not silence.
  const pcm = Buffer.concat(audio);
  expect(pcm.length / 48_000).toBeGreaterThan(transcript.length / 40);
  expect(Math.max(...new Int16Array(pcm.buffer, pcm.byteOffset, pcm.length >> 1).subarray(0, 100_000))).toBeGreaterThan(
    1000,
  );
  session.realtime.close();
  await once(session.realtime.socket, "close");
});

test("interrupts a response when the user speaks", async () => {
  const session = connect({ model: "slow" });
  await session.next("session.created");
  const speaking = session.next("response.output_audio.delta");
  const first = session.next("response.done");
  stream(session, Buffer.concat([question, silence(1)]));
  await speaking;
  stream(session, Buffer.concat([question, silence(1)]));
  const { response } = await first;
  expect(response).toMatchObject({
    status: "cancelled",
    status_details: { reason: "turn_detected" },
    output: [{ status: "incomplete", content: [{ transcript: expect.stringMatching(/^This is a long answer\./) }] }],
  });
  const started = session.events.findLastIndex(({ type }) => type === "input_audio_buffer.speech_started");
  expect(session.events.findIndex(({ type }) => type === "response.done")).toBeGreaterThan(started);
  // The second turn is answered, too.
  await session.next("response.output_audio.delta");
  session.realtime.close();
  await once(session.realtime.socket, "close");
});
