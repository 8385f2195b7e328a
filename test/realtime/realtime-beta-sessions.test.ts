/** Client secrets in the form of the Realtime API's beta, through the official client. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { RealtimeClient } from "../support/service/realtime-client.ts";
import { type Service, startService } from "../support/service/service.ts";

let service: Service;
beforeAll(async () => {
  service = await startService({
    config: `
builtin_models: false
models:
  - { id: hears, task: transcription, deployments: [{ engine: scripted, replies: [{ text: "One." }] }] }
  - { id: talks, task: chat, deployments: [{ engine: scripted, echo: true }] }
  - { id: speaks, task: speech, deployments: [{ engine: scripted, speech: {} }] }
`,
  });
});
afterAll(() => service.stop());

const connect = (secret: string) => RealtimeClient.connect(service, { query: "", apiKey: secret });

test("creates a secret that opens the session", async () => {
  const session = await service.client().beta.realtime.sessions.create({
    model: "talks" as never,
    modalities: ["text"],
    instructions: "Whisper.",
    input_audio_format: "g711_ulaw",
    max_response_output_tokens: 20,
    turn_detection: { type: "server_vad", silence_duration_ms: 700 },
    temperature: 0.8,
  });
  expect(session).toMatchObject({
    object: "realtime.session",
    model: "talks",
    modalities: ["text"],
    instructions: "Whisper.",
    input_audio_format: "g711_ulaw",
    output_audio_format: "pcm16",
    input_audio_transcription: null,
    max_response_output_tokens: 20,
    turn_detection: { type: "server_vad", silence_duration_ms: 700 },
  });
  expect(session.client_secret.value).toMatch(/^ek_/);
  expect(session.client_secret.expires_at).toBeGreaterThan(Date.now() / 1000);
  const client = await connect(session.client_secret.value);
  const created = await client.next("session.created");
  expect(created.session).toMatchObject({
    model: "talks",
    instructions: "Whisper.",
    output_modalities: ["text"],
    max_output_tokens: 20,
    audio: { input: { format: { type: "audio/pcmu" }, transcription: null } },
  });
  await client.close();
  const asKey = service.client({ apiKey: session.client_secret.value, maxRetries: 0 });
  await expect(asKey.models.list()).rejects.toMatchObject({ status: 401 });
});

test("creates a secret that opens a transcription session", async () => {
  const session = await service.client().beta.realtime.transcriptionSessions.create({
    input_audio_format: "pcm16",
    input_audio_transcription: { model: "hears" as never, language: "en" },
    turn_detection: null as never,
    input_audio_noise_reduction: { type: "near_field" },
  });
  expect(session).toMatchObject({
    object: "realtime.transcription_session",
    input_audio_format: "pcm16",
    input_audio_transcription: { model: "hears", language: "en", prompt: "" },
    turn_detection: null,
  });
  const client = await connect(session.client_secret.value);
  const created = await client.next("session.created");
  expect(created.session).toMatchObject({ type: "transcription", audio: { input: { turn_detection: null } } });
  await client.close();
});

test("names what it refuses and ignores in the form of the beta", async () => {
  const { realtime } = service.client({ maxRetries: 0 }).beta;
  const refused = (body: object) => realtime.sessions.create(body as never);
  await expect(refused({ model: "none" })).rejects.toMatchObject({ status: 404, param: "model" });
  await expect(refused({ input_audio_format: "mp3" })).rejects.toMatchObject({ param: "input_audio_format" });
  await expect(refused({ model: "talks", speed: 9 })).rejects.toMatchObject({ status: 400, param: "speed" });
  const other = realtime.transcriptionSessions.create({ input_audio_transcription: { model: "talks" as never } });
  await expect(other).rejects.toMatchObject({ param: "input_audio_transcription.model" });
  const { response } = await realtime.sessions.create({ temperature: 0.8, tracing: "auto" }).withResponse();
  expect(response.headers.get("x-parlance-ignored-fields")).toBe("temperature, tracing");
});
