/** An upstream with OpenAI's API that answers every operation and keeps what it got. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface RecordingUpstream extends AsyncDisposable {
  baseUrl: string;
  /** Body of the last request: its JSON, or the text of a form. */
  last(): unknown;
}

const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const LOGPROB = { token: "{}", logprob: 0, bytes: [123, 125], top_logprobs: [] };

interface UpstreamBody {
  model?: string;
  input?: unknown;
  documents?: readonly unknown[];
  logprobs?: unknown;
}

/** Answers by the end of the path. */
const ANSWERS: Readonly<Record<string, (body: UpstreamBody) => object>> = {
  "chat/completions": ({ logprobs }) => ({
    id: "chatcmpl-1",
    object: "chat.completion",
    choices: [
      {
        ...{ index: 0, message: { role: "assistant", content: "{}" }, finish_reason: "stop" },
        ...(logprobs === true && { logprobs: { content: [LOGPROB] } }),
      },
    ],
    usage: USAGE,
  }),
  embeddings: ({ input }) => ({
    object: "list",
    data: [input].flat().map((_text, index) => ({ object: "embedding", index, embedding: [0.6, 0.8] })),
    usage: USAGE,
  }),
  completions: () => ({
    id: "cmpl-1",
    object: "text_completion",
    choices: [{ index: 0, text: "Hi", finish_reason: "stop", logprobs: null }],
    usage: USAGE,
  }),
  rerank: ({ documents = [] }) => ({
    results: documents.map((_document, index) => ({ index, relevance_score: 0.5 })),
    usage: USAGE,
  }),
  moderations: () => ({
    id: "modr-1",
    results: [{ flagged: false, categories: { violence: false }, category_scores: { violence: 0.1 } }],
  }),
  generations: () => ({ created: 1, data: [{ b64_json: PNG }] }),
  edits: () => ({ created: 1, data: [{ b64_json: PNG }] }),
  variations: () => ({ created: 1, data: [{ b64_json: PNG }] }),
  transcriptions: () => ({ text: "Hi", language: "english", duration: 1, segments: [] }),
  translations: () => ({ text: "Hi", language: "english", duration: 1, segments: [] }),
};

export async function startRecordingUpstream(): Promise<RecordingUpstream> {
  let last: unknown;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const isJson = request.headers["content-type"]?.startsWith("application/json") === true;
    last = isJson ? JSON.parse(text) : text;
    const { stream, ...body } = (isJson ? last : {}) as UpstreamBody & { stream?: boolean };
    const [, answer] = Object.entries(ANSWERS).find(([path]) => request.url?.endsWith(path)) ?? [];
    if (answer === undefined) {
      response.writeHead(200, { "content-type": "audio/mpeg" }).end(Buffer.alloc(64));
      return;
    }
    const complete = { created: 1, model: body.model ?? "far", ...answer(body) };
    if (stream !== true) {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(complete));
      return;
    }
    if (!("choices" in complete)) {
      const event = { type: "image_generation.completed", b64_json: PNG, usage: null };
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      return;
    }
    const { choices, ...envelope } = complete as { choices?: { message?: object }[] };
    const [{ message, ...choice } = {}] = choices ?? [];
    const chunk = { ...envelope, object: "chat.completion.chunk", choices: [{ ...choice, delta: message }] };
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    last: () => last,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
