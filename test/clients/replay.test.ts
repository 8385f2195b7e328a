import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_CHAT_MODEL } from "../support/default-model.ts";
import type { Service } from "../support/service.ts";
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

const isChat = ({ path }: RecordedRequest) => path.endsWith("/chat/completions");

describe.each(recordings.map((recording) => [`${recording.client} ${recording.version}`, recording] as const))(
  "%s",
  (_name, { requests }) => {
    test.each(requests.map((each, index) => [`${index + 1}: ${each.method} ${each.path}`, each] as const))(
      "request %s gets the answer that the client reads",
      async (_title, recorded) => {
        // The default model's text does not matter here, and it is slow.
        const json = isChat(recorded) ? withScriptedModel(recorded.json) : recorded.json;
        const answer = await send({ ...recorded, json });
        expect(answer, answer.body).toMatchObject({ status: 200 });
        if (!isChat(recorded)) return;
        const { stream, tools } = json as { stream?: boolean; tools?: unknown[] };
        const message = stream === true ? streamedMessage(answer) : completeMessage(answer);
        expect(message.role).toBe("assistant");
        expect(typeof message.content === "string" || (tools !== undefined && message.tool_calls !== undefined)).toBe(
          true,
        );
      },
    );
  },
);

function withScriptedModel(json: unknown): unknown {
  const body = json as { model: string };
  return body.model === DEFAULT_CHAT_MODEL ? { ...body, model: TOOLS_MODEL } : body;
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
  const frames = body.split("\n\n").filter((frame) => frame !== "");
  expect(frames.at(-1)).toBe("data: [DONE]");
  const chunks = frames.slice(0, -1).map((frame) => JSON.parse(frame.replace(/^data: /, ""))) as {
    object: string;
    choices: { delta: Message; finish_reason: string | null }[];
  }[];
  expect(new Set(chunks.map(({ object }) => object))).toEqual(new Set(["chat.completion.chunk"]));
  const deltas = chunks.flatMap(({ choices }) => choices);
  expect(deltas.at(-1)?.finish_reason).toMatch(/^(stop|length|tool_calls)$/);
  return Object.assign({}, ...deltas.map(({ delta }) => delta)) as Message;
}
