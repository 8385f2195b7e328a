/** Transcript streams in the formats of other services. */

import { writeFile } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../../test/support/service/temporary-directory.ts";
import { makeTranscriptionRequest, uploadedFile } from "../../../test/support/service/transcription-request.ts";
import type {
  TranscriptionEvent,
  TranscriptionModel,
  TranscriptionRequest,
} from "../../contracts/transcription-model.ts";
import { openAiCompatibleEngine } from "./openai-compatible-engine.ts";
import { openAiCompatibleSettings } from "./settings.ts";

let folder: TemporaryDirectory;
let server: Server;
let model: TranscriptionModel;
/** Response to the next request, and the request received. */
let answer: (response: ServerResponse) => void;
let asked = "";

beforeAll(async () => {
  folder = await temporaryDirectory();
  await writeFile(join(folder.path, "file"), "sound");
  server = createServer(async (request, response) => {
    asked = await text(request);
    answer(response);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const settings = openAiCompatibleSettings.parse({
    base_url: `http://127.0.0.1:${port}/v1`,
    model: "theirs",
    idle_timeout_seconds: 1,
  });
  model = (await openAiCompatibleEngine.open(settings, "transcription", makeEngineServices())) as TranscriptionModel;
});
afterAll(async () => {
  await model.close();
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  await folder[Symbol.asyncDispose]();
});

const streams = (...frames: string[]) => {
  answer = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    response.end(frames.join(""));
  };
};
const data = (event: unknown, end = "\n\n") => `data: ${JSON.stringify(event)}${end}`;

async function transcribe(changes: Partial<TranscriptionRequest> = {}, signal = new AbortController().signal) {
  const request = makeTranscriptionRequest({
    model: "ours",
    // Three seconds, for upstreams that report no duration.
    samples: (async function* () {
      yield new Float32Array(48_000);
    })(),
    file: uploadedFile(join(folder.path, "file"), "a.mp3"),
    stream: true,
    ...changes,
  });
  const events: TranscriptionEvent[] = [];
  let failure: unknown;
  try {
    for await (const event of model.transcribe(request, signal)) events.push(event);
  } catch (error) {
    failure = error;
  }
  return { events, failure };
}

test("reads OpenAI's deltas without times, carriage returns and comments", async () => {
  streams(
    ": keep\r\n\r\n",
    data({ type: "transcript.text.delta", delta: "Zürich", logprobs: [] }, "\r\n\r\n"),
    "event: transcript.text.delta\n",
    data({ type: "transcript.text.delta", delta: " calls." }),
    data({ type: "something.new" }),
    data({ type: "transcript.text.done", text: "Zürich calls.", usage: { type: "tokens", input_tokens: 14 } }),
  );
  const { events } = await transcribe({ language: "en", prompt: "Cities." });
  expect(events).toEqual([
    { type: "delta", text: "Zürich" },
    { type: "delta", text: " calls." },
    { type: "finish", audioSeconds: 3, language: "en" },
  ]);
  for (const field of ['name="stream"\r\n\r\ntrue', 'name="response_format"\r\n\r\njson', "Cities."]) {
    expect(asked).toContain(field);
  }
});

test("reads segments, and marks those whose text deltas have streamed", async () => {
  const segment = { type: "transcript.text.segment", id: "seg_0", start: 0, end: 1.5, text: " Hello." };
  const done = data({ type: "transcript.text.done", text: "Hello.", usage: { type: "duration", seconds: 2 } });
  streams(data(segment), done);
  const segmentEvent = { type: "segment", startSeconds: 0, endSeconds: 1.5, text: "Hello." };
  const finish = { type: "finish", audioSeconds: 2, language: undefined };
  expect((await transcribe()).events).toMatchObject([segmentEvent, finish]);
  streams(data({ type: "transcript.text.delta", delta: "Hello." }), data(segment), done);
  expect((await transcribe()).events).toMatchObject([{ type: "delta" }, { ...segmentEvent, isStreamed: true }, finish]);
});

test("vLLM's chunks", async () => {
  const chunk = (content: string | undefined) =>
    data({ object: "transcription.chunk", choices: [{ delta: { content }, finish_reason: null }] });
  streams(chunk(" Hello"), chunk(" there."), chunk(undefined), "data: [DONE]\n\n");
  expect((await transcribe()).events).toEqual([
    { type: "delta", text: " Hello" },
    { type: "delta", text: " there." },
    { type: "finish", audioSeconds: 3, language: undefined },
  ]);
});

test("reads a text that arrives only at the end, or not as a stream", async () => {
  streams(data({ type: "transcript.text.done", text: "Whole." }));
  expect((await transcribe()).events).toMatchObject([{ type: "delta", text: "Whole." }, { type: "finish" }]);
  answer = (response) => response.writeHead(200, { "content-type": "application/json" }).end('{"text":"Whole."}');
  expect((await transcribe()).events).toEqual([
    { type: "delta", text: "Whole." },
    { type: "finish", audioSeconds: 3, language: undefined },
  ]);
});

test.each([
  ["ends early", [data({ type: "transcript.text.delta", delta: "Hal" })], "ended its answer before it was complete"],
  [
    "says that it failed",
    [data({ type: "transcript.text.delta", delta: "Hal" }), data({ error: "out of memory" })],
    "",
  ],
  ["writes no JSON", ["data: nonsense\n\n"], "not JSON"],
  ["sends an event without end", [`data: ${"x".repeat(2 * 1024 * 1024)}`], "more than is read", "answer-unfit"],
])("reports a stream that %s", async (_name, frames, message, kind = "upstream-failed") => {
  streams(...frames);
  const { failure } = await transcribe();
  expect(failure).toMatchObject({ name: "Fault", kind, message: expect.stringContaining(message) });
});

test("times out a stream that stalls", async () => {
  answer = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(data({ type: "transcript.text.delta", delta: "Hal" }));
  };
  const { events, failure } = await transcribe();
  expect(events).toEqual([{ type: "delta", text: "Hal" }]);
  expect(failure).toMatchObject({ kind: "upstream-timeout" });
});

test("keeps a text without segments", async () => {
  const complete = (transcript: object) => {
    answer = (response) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(transcript));
    return transcribe({ stream: false });
  };
  const finish = { type: "finish", audioSeconds: 2, language: undefined };
  const { events } = await complete({ text: " Hallo.", duration: 2, segments: [] });
  expect(events).toMatchObject([{ type: "segment", startSeconds: 0, endSeconds: 2, text: "Hallo." }, finish]);
  expect((await complete({ text: " ", duration: 2, segments: [] })).events).toEqual([finish]);
});

test("forwards a rejection to the caller", async () => {
  answer = (response) =>
    response
      .writeHead(400, { "content-type": "application/json" })
      .end(JSON.stringify({ error: { message: "No such language.", param: "language" } }));
  expect((await transcribe()).failure).toMatchObject({ kind: "invalid-request", param: "language" });
});

test("stops measuring the audio on abort", async () => {
  streams(data({ type: "transcript.text.done", text: "" }));
  const leaving = new AbortController();
  const samples = (async function* () {
    for (let count = 0; ; count += 1) {
      if (count === 10) leaving.abort();
      await new Promise(setImmediate);
      yield new Float32Array(16);
    }
  })();
  await transcribe({ samples }, leaving.signal);
  expect(leaving.signal.aborted).toBe(true);
});

test("measures two recordings of a project at the same time where the upstream does not", async () => {
  answer = (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ text: "Hallo." }));
  };
  let running = 0;
  let most = 0;
  const recording = async function* () {
    running += 1;
    most = Math.max(most, running);
    await nextTurn();
    yield new Float32Array(48_000);
    running -= 1;
  };
  const all = await Promise.all([1, 2, 3, 4, 5].map(() => transcribe({ samples: recording(), project: "one" })));
  for (const { events } of all) expect(events.at(-1)).toMatchObject({ type: "finish", audioSeconds: 3 });
  expect(most).toBe(2);
});
