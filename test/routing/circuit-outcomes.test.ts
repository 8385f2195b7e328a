/** Which outcomes of an upstream open its model's circuit for everybody, and which concern one request only. */

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type InProcessService, startService } from "../support/service/service.ts";
import { makeWave } from "../support/service/wave.ts";

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
const error = (message: string, more: object = {}) => ({ error: { message, ...more } });
const frames =
  (...parts: string[]): Answer =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const part of parts) response.write(part);
  };
const CHUNK = `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content: "Hi" } }] })}\n\n`;

/** Sends one request for `model`, of any kind that its upstream takes. */
type Ask = (model: string) => Promise<Response>;

const chat =
  (more: object = {}): Ask =>
  (model) =>
    service.post("/v1/chat/completions", { model, messages: [{ role: "user", content: "Hi" }], ...more });
const completion: Ask = (model) => service.post("/v1/completions", { model, prompt: "Hi" });
const embed: Ask = (model) => service.post("/v1/embeddings", { model, input: ["a", "b"] });
const rerank: Ask = (model) => service.post("/v1/rerank", { model, query: "q", documents: ["a", "b"] });
const draw: Ask = (model) => service.post("/v1/images/generations", { model, prompt: "A cat." });
const audio =
  (path: string, fields: Record<string, string> = {}): Ask =>
  (model) => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ model, ...fields })) form.append(name, value);
    form.append("file", new Blob([new Uint8Array(makeWave({ seconds: 1 }))]), "a.wav");
    return service.fetch(`/v1/audio/${path}`, { method: "POST", body: form });
  };
const transcribe = (fields?: Record<string, string>) => audio("transcriptions", fields);
const WORDS = { response_format: "verbose_json", "timestamp_granularities[]": "word" };
const SPEAKERS = { response_format: "diarized_json" };

type Task = "chat" | "embedding" | "transcription" | "image";

interface Row {
  outcome: string;
  answer: Answer;
  task?: Task;
  ask?: Ask;
  /** Status of each request while the circuit is closed. */
  status: number;
  isCounted: boolean;
  /** What the refusal of every further request names, without asking the upstream. */
  lacks?: RegExp;
}

const pathless = json(404, { detail: "Not Found" });

const ROWS: readonly Row[] = [
  // The deployment's health.
  { outcome: "no connection", answer: (_, { socket }) => socket.resetAndDestroy(), status: 502, isCounted: true },
  { outcome: "no first byte in time", answer: () => {}, status: 504, isCounted: true },
  { outcome: "no first event in time", answer: frames(), ask: chat({ stream: true }), status: 504, isCounted: true },
  { outcome: "500", answer: json(500, error("Out of memory.")), status: 502, isCounted: true },
  { outcome: "503", answer: json(503, error("Starting.")), status: 502, isCounted: true },
  { outcome: "504", answer: json(504, error("Too slow.")), status: 504, isCounted: true },
  { outcome: "429", answer: json(429, error("Slow down.")), status: 429, isCounted: true },
  { outcome: "401", answer: json(401, error("Wrong key.")), status: 502, isCounted: true },
  { outcome: "redirect", answer: json(307, {}, { location: "http://127.0.0.1:1/" }), status: 502, isCounted: true },
  { outcome: "no chat at this address", answer: pathless, status: 502, isCounted: true },
  { outcome: "a page", answer: (response) => response.end("<html>"), status: 502, isCounted: true },
  // The request.
  { outcome: "400", answer: json(400, error("No.")), status: 400, isCounted: false },
  { outcome: "402", answer: json(402, error("Fewer tokens, please.")), status: 502, isCounted: false },
  { outcome: "403", answer: json(403, error("Flagged.")), status: 502, isCounted: false },
  { outcome: "404 of a model", answer: json(404, error("No such model.")), status: 404, isCounted: false },
  { outcome: "413", answer: json(413, error("Too large.")), status: 413, isCounted: false },
  { outcome: "422", answer: json(422, { detail: "No." }), status: 400, isCounted: false },
  { outcome: "431", answer: json(431, error("Long headers.")), status: 502, isCounted: false },
  { outcome: "451", answer: json(451, error("Not here.")), status: 502, isCounted: false },
  { outcome: "too long an answer", answer: json(200, "x".repeat(100_000)), status: 502, isCounted: false },
  {
    outcome: "no further event in time",
    answer: frames(CHUNK),
    ask: chat({ stream: true }),
    status: 200,
    isCounted: false,
  },
  {
    outcome: "another number of vectors",
    answer: json(200, { data: [{ index: 0, embedding: [1] }] }),
    task: "embedding",
    ask: embed,
    status: 502,
    isCounted: false,
  },
  {
    outcome: "no times",
    answer: json(200, { text: "Hi." }),
    task: "transcription",
    ask: transcribe(),
    status: 502,
    isCounted: false,
  },
  // What the upstream lacks.
  { outcome: "no completions", answer: pathless, ask: completion, status: 400, isCounted: false, lacks: /Completions/ },
  {
    outcome: "completions with another method",
    answer: json(405, {}),
    ask: completion,
    status: 400,
    isCounted: false,
    lacks: /Completions/,
  },
  {
    outcome: "no translations",
    answer: pathless,
    task: "transcription",
    ask: audio("translations"),
    status: 400,
    isCounted: false,
    lacks: /translate/,
  },
  {
    outcome: "no speakers",
    answer: json(200, { text: "Hi." }),
    task: "transcription",
    ask: transcribe(SPEAKERS),
    status: 400,
    isCounted: false,
    lacks: /speakers/,
  },
  {
    outcome: "no word times",
    answer: json(200, { text: "Hi.", segments: [{ start: 0, end: 1, text: "Hi." }] }),
    task: "transcription",
    ask: transcribe(WORDS),
    status: 400,
    isCounted: false,
    lacks: /word/,
  },
  {
    outcome: "no reranking",
    answer: pathless,
    task: "embedding",
    ask: rerank,
    status: 400,
    isCounted: false,
    lacks: /rerank/,
  },
  {
    outcome: "no generation of images",
    answer: json(501, {}),
    task: "image",
    ask: draw,
    status: 400,
    isCounted: false,
    lacks: /prompt alone/,
  },
];

const FAILURES = 2;
let upstream: Server;
let service: InProcessService;
/** Requests that the upstream received, by index of the row. */
const received = ROWS.map(() => 0);

beforeAll(async () => {
  upstream = createServer((request, response) => {
    const index = Number(request.url?.split("/")[1]);
    received[index] = (received[index] ?? 0) + 1;
    request.resume().on("end", () => ROWS[index]?.answer(response, request));
  }).listen(0, "127.0.0.1");
  await once(upstream, "listening");
  const { port } = upstream.address() as AddressInfo;
  const models = ROWS.map(({ outcome, task = "chat", ask }, index) => {
    // All rows run at once: on a busy machine, an upstream that answers takes its time, too.
    const seconds = outcome.endsWith("in time") ? 1.5 : 60;
    const limits = `first_byte_timeout_seconds: ${seconds}, idle_timeout_seconds: ${seconds}, max_response_bytes: 65536`;
    const abilities = ask === rerank ? "abilities: { rerank: true }, " : "";
    const url = `http://127.0.0.1:${port}/${index}`;
    const deployment = `{ engine: openai-compatible, base_url: "${url}", probe: false, model: m, ${abilities}${limits} }`;
    const circuit = `{ failures: ${FAILURES}, failure_rate: 1, cooldown_seconds: 600 }`;
    return `  - { id: row-${index}, task: ${task}, circuit: ${circuit}, retries: 0, deployments: [${deployment}] }`;
  });
  service = await startService({ config: `builtin_models: false\nmodels:\n${models.join("\n")}\n` });
});
afterAll(async () => {
  await service.stop();
  upstream.closeAllConnections();
  upstream.close();
});

test.concurrent.each(ROWS.map((row, index) => ({ ...row, index })))(
  "$outcome: counted $isCounted",
  async ({ index, ask = chat(), status, isCounted, lacks }) => {
    const model = `row-${index}`;
    for (let request = 0; request < FAILURES; request += 1) {
      const response = await ask(model);
      expect(response.status).toBe(status);
      await response.text().catch(() => {});
    }
    const last = await ask(model);
    const text = await last.text();
    expect([last.status, text.includes("after repeated failures")]).toEqual(isCounted ? [503, true] : [status, false]);
    expect(received[index]).toBe(lacks !== undefined ? 1 : FAILURES + (isCounted ? 0 : 1));
    if (lacks === undefined) return;
    const refusal = JSON.parse(text).error;
    expect(refusal).toMatchObject({ type: "invalid_request_error", code: "unsupported_value" });
    expect(refusal.message).toMatch(lacks);
  },
);

test.each([
  ["words of a silent recording", WORDS],
  ["speakers of a silent recording", SPEAKERS],
])("learns nothing from missing %s", async (_name, fields) => {
  const index = ROWS.findIndex(({ outcome }) => outcome === "no times");
  const row = ROWS[index] as Row;
  const { answer } = row;
  row.answer = json(200, { text: "", duration: 1 });
  try {
    expect((await transcribe(fields)(`row-${index}`)).status).toBe(200);
  } finally {
    row.answer = answer;
  }
});
