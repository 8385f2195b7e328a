/** Sessions of the Realtime API that translate speech, with scripted models and a voice that speaks English. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { RealtimeClient, type RealtimeEvent, silence } from "../support/service/realtime-client.ts";
import { type Service, startService } from "../support/service/service.ts";
import { administrator } from "../support/service/team-services.ts";

let service: Service;
/** PCM at 24 kHz: a sentence, and the pause that ends its turn. */
let turn: Buffer;
beforeAll(async () => {
  service = await startService({
    config: `
builtin_models: false
realtime: { speech_model: voice }
models:
  - { id: voice, task: speech, deployments: [{ engine: flite }] }
  - { id: hears, task: transcription, deployments: [{ engine: scripted, replies: [{ text: Buenos dias. }] }] }
  - id: interpreter
    task: chat
    price: { prompt: "0.01", completion: "0.01" }
    deployments:
      - engine: scripted
        replies: [{ match: Buenos, text: Good morning. }]
`,
  });
  const speech = {
    model: "voice",
    voice: "alloy",
    response_format: "pcm",
    input: "The weather is nice today.",
  } as const;
  const answer = await service.client().audio.speech.create(speech);
  turn = Buffer.concat([silence(0.3), Buffer.from(await answer.arrayBuffer()), silence(1)]);
});
afterAll(() => service?.stop());

const open = (query = "model=interpreter", options: { protocols?: string[]; apiKey?: string } = {}) =>
  RealtimeClient.connect(service, { path: "/realtime/translations", query, ...options });

function sendTurn(client: RealtimeClient): void {
  for (let start = 0; start < turn.length; start += 9600) {
    const audio = turn.subarray(start, start + 9600).toString("base64");
    client.send({ type: "session.input_audio_buffer.append", audio });
  }
}

const textOf = (client: RealtimeClient, type: string) =>
  client.events.flatMap((event: RealtimeEvent) => (event.type === type ? [event.delta] : [])).join("");

test("translates each turn, in order, until the client closes the session", async () => {
  const client = await open();
  const { session } = await client.next("session.created");
  expect(session).toEqual({
    id: expect.stringMatching(/^sess_/),
    type: "translation",
    expires_at: expect.any(Number),
    model: "interpreter",
    audio: { input: { transcription: null, noise_reduction: null }, output: { language: "en" } },
  });
  const audio = { input: { transcription: { model: "hears" } }, output: { language: "en-GB" } };
  client.send({ type: "session.update", session: { audio } });
  const { session: updated } = await client.next("session.updated");
  expect(updated.audio).toMatchObject({ input: { transcription: { model: "hears" } }, output: { language: "en-GB" } });
  sendTurn(client);
  sendTurn(client);
  client.send({ type: "session.close" });
  await client.next("session.closed");
  expect(await client.closed).toMatchObject({ code: 1000 });
  expect(textOf(client, "session.input_transcript.delta")).toBe("Buenos dias. Buenos dias.");
  expect(textOf(client, "session.output_transcript.delta")).toBe("Good morning. Good morning.");
  const pieces = client.events.filter(({ type }) => type === "session.output_audio.delta");
  expect(pieces[0]).toMatchObject({ sample_rate: 24_000, channels: 1, format: "pcm16" });
  const bytes = pieces.reduce((sum, { delta }) => sum + Buffer.from(delta, "base64").length, 0);
  // Both are spoken.
  expect(bytes).toBeGreaterThan(2 * 0.5 * 24_000 * 2);
  const types = new Set(client.events.map(({ type }) => type));
  expect([...types].filter((type) => !type.startsWith("session."))).toEqual([]);
  await eventually(async () => {
    const start_time = Math.floor(Date.now() / 1000) - 3600;
    const page = await administrator(service).usage.completions({ start_time, group_by: ["model"] });
    const results = page.data.flatMap(({ results }) => results as { model?: string; num_model_requests?: number }[]);
    expect(results.filter(({ model }) => model === "interpreter")).toMatchObject([{ num_model_requests: 2 }]);
  });
});

test("sends no transcript of what was said unless the client asks for it", async () => {
  const client = await open();
  await client.next("session.created");
  sendTurn(client);
  client.send({ type: "session.close" });
  await client.next("session.closed");
  expect(textOf(client, "session.input_transcript.delta")).toBe("");
  expect(textOf(client, "session.output_transcript.delta")).toBe("Good morning.");
});

test("refuses a language that no voice speaks, events of other sessions, and a session without its model", async () => {
  const client = await open();
  await client.next("session.created");
  const refused: [object, string | null, RegExp][] = [
    [
      { type: "session.update", session: { audio: { output: { language: "es" } } } },
      "session.audio.output.language",
      /speak en/,
    ],
    [
      { type: "session.update", session: { audio: { output: { language: "xx!" } } } },
      "session.audio.output.language",
      /pt-BR/,
    ],
    [
      // Each variant is another one.
      {
        type: "session.update",
        session: {
          audio: { output: { language: `en-${Array.from({ length: 20_000 }, (_, at) => 100_000 + at).join("-")}` } },
        },
      },
      "session.audio.output.language",
      /pt-BR/,
    ],
    [{ type: "response.create" }, "type", /type/],
    [{ type: "session.input_audio_buffer.append", audio: "!" }, "audio", /base64/],
  ];
  for (const [event, param, message] of refused) {
    client.send({ ...event, event_id: "mine" });
    const { error } = await client.next("error");
    expect(error).toMatchObject({ event_id: "mine", param });
    expect(error.message).toMatch(message);
  }
  client.socket.close();
  for (const [query, param] of [
    ["", "session.model"],
    ["model=hears", "session.model"],
    ["model=none", "session.model"],
  ]) {
    const unopened = await open(query);
    expect((await unopened.next("error")).error.param).toBe(param);
    await unopened.closed;
  }
});

test("opens sessions with a client secret, which fixes what it says", async () => {
  const create = async (session: object) => {
    const answer = await service.post("/v1/realtime/translations/client_secrets", { session });
    return { status: answer.status, body: (await answer.json()) as RealtimeEvent, headers: answer.headers };
  };
  const audio = { input: { transcription: null, noise_reduction: { type: "near_field" } }, output: { language: "en" } };
  const { body: secret, headers } = await create({ model: "interpreter", audio });
  expect(secret).toMatchObject({
    value: expect.stringMatching(/^ek_/),
    session: { type: "translation", model: "interpreter", audio: { output: { language: "en" } } },
  });
  expect(headers.get("x-parlance-ignored-fields")).toBe("session.audio.input.noise_reduction");
  const client = await open("", { apiKey: secret.value });
  await client.next("session.created");
  client.send({ type: "session.update", session: { audio: { output: { language: "fr" } } } });
  expect((await client.next("error")).error).toMatchObject({ code: "fixed_by_client_secret" });
  client.socket.close();
  const elsewhere = await RealtimeClient.connect(service, { query: "", apiKey: secret.value });
  expect((await elsewhere.next("error")).error.message).toContain("/v1/realtime/translations");
  const voice = await service.post("/v1/realtime/client_secrets", {
    session: { type: "realtime", model: "interpreter" },
  });
  const { value } = (await voice.json()) as { value: string };
  const wrong = await open("", { apiKey: value });
  expect((await wrong.next("error")).error.message).toContain("/v1/realtime,");
  expect((await create({})).status).toBe(400);
  expect((await create({ model: "none" })).status).toBe(404);
});
