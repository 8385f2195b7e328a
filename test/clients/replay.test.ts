import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseEvents } from "../../src/kernel/server-sent-events.ts";
import type { Service } from "../support/service/service.ts";
import { PLACEHOLDERS, type RecordedRequest } from "./recorded-request.ts";
import { readRecordings } from "./recordings.ts";
import { startClientsService, TOOLS_MODEL } from "./start-clients-service.ts";

const recordings = await readRecordings();
let service: Service;

beforeAll(async () => {
  service = await startClientsService();
});
afterAll(() => service?.stop());

interface Answer {
  status: number;
  contentType: string;
  body: string;
}

/** Headers that belong to one connection or to the recorded body's exact bytes. */
const CONNECTION_HEADERS = new Set(["content-length", "connection", "accept-encoding", "transfer-encoding"]);

async function send({ method, path, headers, json, form }: RecordedRequest): Promise<Answer> {
  const { host } = new URL(service.origin);
  const filled = headers
    .filter(([name]) => !CONNECTION_HEADERS.has(name.toLowerCase()))
    .filter(([name]) => form === undefined || name.toLowerCase() !== "content-type")
    .map(([name, value]) => [name, value.replace(PLACEHOLDERS.host, host).replace(PLACEHOLDERS.key, service.apiKey)]);
  const body = form === undefined ? new Response(JSON.stringify(json)) : new Response(await toFormData(form));
  const bytes = Buffer.from(await body.arrayBuffer());
  if (form !== undefined) filled.push(["Content-Type", body.headers.get("content-type") as string]);
  const outgoing = request(`${service.origin}${path}`, {
    method,
    headers: [
      ...filled,
      ["Content-Length", String(json === undefined && form === undefined ? 0 : bytes.length)],
    ].flat() as string[],
  });
  outgoing.end(json === undefined && form === undefined ? undefined : bytes);
  return new Promise((resolve, reject) => {
    outgoing.on("error", reject);
    outgoing.on("response", (incoming) => {
      const { statusCode = 0, headers: answered } = incoming;
      text(incoming).then(
        (body) => resolve({ status: statusCode, contentType: answered["content-type"] ?? "", body }),
        reject,
      );
    });
  });
}

/** Files become a recording of this repository, because the client's own was not kept. */
async function toFormData(parts: NonNullable<RecordedRequest["form"]>): Promise<FormData> {
  const form = new FormData();
  for (const part of parts) {
    if ("value" in part) form.append(part.name, part.value);
    else {
      const speech = await readFile(new URL("../recordings/speech.mp3", import.meta.url));
      form.append(part.name, new File([new Uint8Array(speech)], part.filename, { type: part.type }));
    }
  }
  return form;
}

/** Formats of answers from a chat model, by the operation's path. */
const CHAT_FORMATS: Readonly<Record<string, (answer: Answer, request: ChatJson) => void>> = {
  "/v1/chat/completions": expectCompletion,
  "/v1/responses": expectResponse,
  "/v1/messages": expectMessage,
  ":generateContent": expectContent,
  ":streamGenerateContent": expectContentStream,
};

/** Gemini's paths name the model, and its bodies do not. */
function isGemini(path: string): boolean {
  return path.startsWith("/v1beta/");
}

interface ChatJson {
  model: string;
  stream?: boolean;
  tools?: unknown[];
}

function sendsKey({ headers }: RecordedRequest): boolean {
  return headers.some(([, value]) => value.includes(PLACEHOLDERS.key));
}

/** Paths by which wyoming-openai recognizes other services. */
const PROBES: ReadonlySet<string> = new Set(["/v1/readyz", "/v1/test", "/health"]);

/** Requests on what the service has stored, or without an operation, have no answer in another service. */
function isReplayable({ method, path, json }: RecordedRequest): boolean {
  const { previous_response_id } = (json ?? {}) as { previous_response_id?: string };
  const isStored =
    /\/(conv|resp|vs|file)[_-]/.test(path) || /"(vector_store_ids|file_ids?)":/.test(JSON.stringify(json ?? {}));
  return method !== "HEAD" && !PROBES.has(path) && !isStored && previous_response_id === undefined;
}

/** Anthropic's tool runners begin with a thread, and send everything when they are refused. */
function isThreaded(json: unknown): boolean {
  return ((json ?? {}) as { thread?: unknown }).thread != null;
}

function expectThreadRefusal({ status, body }: Answer): void {
  expect(status, body).toBe(400);
  expect(JSON.parse(body)).toMatchObject({ error: { details: { error_code: "thread_unsupported_request" } } });
}

describe.each(recordings.map((recording) => [`${recording.client} ${recording.version}`, recording] as const))(
  "%s",
  (_name, { requests }) => {
    const replayed = requests.filter(isReplayable);
    test.each(replayed.map((each, index) => [`${index + 1}: ${each.method} ${each.path}`, each] as const))(
      "request %s gets the answer that the client reads",
      async (_title, recorded) => {
        const path = recorded.path.replace(/\?.*/, "");
        const expectAnswer = CHAT_FORMATS[isGemini(path) ? path.replace(/.*(?=:)/, "") : path];
        // The text does not matter here, and the default model is slow.
        const json =
          expectAnswer === undefined || isGemini(path)
            ? recorded.json
            : { ...(recorded.json as ChatJson), model: TOOLS_MODEL };
        const answer = await send({ ...recorded, json });
        // Ollama's clients send no key. Open WebUI asks for voices without one, and offers the names of OpenAI's voices when
        // it is refused.
        const isAdmitted = sendsKey(recorded) || recorded.path.startsWith("/api/");
        if (isThreaded(json)) return expectThreadRefusal(answer);
        expect(answer, answer.body).toMatchObject({ status: isAdmitted ? 200 : 401 });
        expectAnswer?.(answer, json as ChatJson);
      },
    );
  },
);

function expectCompletion(answer: Answer, { stream, tools }: ChatJson): void {
  const message = stream === true ? streamedMessage(answer) : completeMessage(answer);
  expect(message.role).toBe("assistant");
  expect(typeof message.content === "string" || (tools !== undefined && message.tool_calls !== undefined)).toBe(true);
}

function expectResponse(answer: Answer, { stream }: ChatJson): void {
  const last = stream === true ? namedEvents(answer).at(-1) : undefined;
  if (stream === true) expect(last?.type).toBe("response.completed");
  const response = stream === true ? last?.response : JSON.parse(answer.body);
  expect(response).toMatchObject({ object: "response", status: "completed" });
  expect((response as { output: unknown[] }).output).not.toEqual([]);
}

function expectMessage(answer: Answer, { stream }: ChatJson): void {
  if (stream !== true) {
    expect(JSON.parse(answer.body)).toMatchObject({ type: "message", role: "assistant" });
    return;
  }
  const types = namedEvents(answer).map(({ type }) => type);
  expect([types[0], ...types.slice(-2)]).toEqual(["message_start", "message_delta", "message_stop"]);
}

interface Content {
  candidates?: { content: { role: string; parts: unknown[] }; finishReason?: string }[];
}

function expectContent({ contentType, body }: Answer): void {
  expect(contentType).toMatch(/^application\/json/);
  const { candidates } = JSON.parse(body) as Content;
  expect(candidates).toMatchObject([{ content: { role: "model", parts: [{}] }, finishReason: "STOP" }]);
}

function expectContentStream({ contentType, body }: Answer): void {
  expect(contentType).toMatch(/^text\/event-stream/);
  const chunks = parseEvents(body).map(({ data }) => JSON.parse(data) as Content);
  expect(chunks.flatMap(({ candidates }) => candidates ?? []).at(-1)?.finishReason).toBe("STOP");
}

/** Events whose data repeats their name as `type`, as Responses and Messages have them. */
function namedEvents({ contentType, body }: Answer): { type: string; response?: unknown }[] {
  expect(contentType).toMatch(/^text\/event-stream/);
  return [...body.matchAll(/^event: (\S+)\ndata: (.+)$/gm)].map(([, name, data = ""]) => {
    const event = JSON.parse(data) as { type: string };
    expect(event.type).toBe(name);
    return event;
  });
}

interface Message {
  role?: string;
  content?: unknown;
  tool_calls?: unknown;
}

function completeMessage({ contentType, body }: Answer): Message {
  expect(contentType).toMatch(/^application\/json/);
  const { object, choices } = JSON.parse(body) as {
    object: string;
    choices: { message: Message; finish_reason: string }[];
  };
  expect(object).toBe("chat.completion");
  expect(choices[0]?.finish_reason).toMatch(/^(stop|length|tool_calls)$/);
  return choices[0]?.message ?? {};
}

function streamedMessage({ contentType, body }: Answer): Message {
  expect(contentType).toMatch(/^text\/event-stream/);
  const events = parseEvents(body);
  expect(events.at(-1)?.data).toBe("[DONE]");
  const chunks = events.slice(0, -1).map(({ data }) => JSON.parse(data)) as {
    object: string;
    choices: { delta: Message; finish_reason: string | null }[];
  }[];
  expect(new Set(chunks.map(({ object }) => object))).toEqual(new Set(["chat.completion.chunk"]));
  const deltas = chunks.flatMap(({ choices }) => choices);
  expect(deltas.at(-1)?.finish_reason).toMatch(/^(stop|length|tool_calls)$/);
  return Object.assign({}, ...deltas.map(({ delta }) => delta)) as Message;
}
