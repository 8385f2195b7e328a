/** Upstream whose answers are numbered, which shows whether a request reached it. */

import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

type Body = Record<string, unknown>;

export interface CountingUpstream {
  baseUrl: string;
  /** Bodies in the order in which they arrived. */
  received: Body[];
  /** Holds answers back until `release`; further ones, too. */
  hold(): void;
  release(): void;
  /** Status of all answers; default 200. */
  status: number;
  /** Requests whose client disconnected before their answer. */
  abandoned: number;
  close(): Promise<void>;
}

const USAGE = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 };

/** `models`: those that it lists. */
export async function startCountingUpstream(models: readonly string[] = []): Promise<CountingUpstream> {
  let gate = Promise.resolve();
  let open = () => {};
  const upstream = {
    received: [] as Body[],
    status: 200,
    abandoned: 0,
    hold: () => {
      const held = Promise.withResolvers<void>();
      gate = held.promise;
      open = held.resolve;
    },
    release: () => open(),
  };
  const server = createServer(async (request, response) => {
    if (request.method === "GET") {
      return void sendJson(response, 200, { object: "list", data: models.map((id) => ({ id, object: "model" })) });
    }
    const body = (await json(request)) as Body;
    upstream.received.push(body);
    const number = upstream.received.length;
    response.once("close", () => {
      if (!response.writableFinished) upstream.abandoned += 1;
    });
    if (body.stream === true && request.url?.endsWith("/chat/completions")) {
      await stream(response, body, number, gate, upstream.status);
      return;
    }
    await gate;
    if (upstream.status !== 200) {
      sendJson(response, upstream.status, { error: { message: "Refused.", type: "server_error" } });
      return;
    }
    if (request.url?.endsWith("/audio/speech")) {
      response.writeHead(200, { "content-type": "audio/pcm" }).end(Buffer.alloc(4800, number));
      return;
    }
    sendJson(response, 200, answerOf(request.url ?? "", body, number));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return Object.assign(upstream, {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, "close");
    },
  });
}

async function stream(response: ServerResponse, { model }: Body, number: number, gate: Promise<void>, status: number) {
  if (status !== 200) return sendJson(response, status, { error: { message: "Refused.", type: "server_error" } });
  const send = (delta: object, more: object = {}) =>
    response.write(
      `data: ${JSON.stringify({ id: `chatcmpl-${number}`, object: "chat.completion.chunk", created: 1, model, choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`,
    );
  response.writeHead(200, { "content-type": "text/event-stream" });
  send({ role: "assistant", content: "" });
  await gate;
  for (const word of ["answer ", String(number)]) send({ content: word });
  send({}, { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
  send({}, { choices: [], usage: USAGE });
  response.end("data: [DONE]\n\n");
}

function answerOf(url: string, { model, input, documents }: Body, number: number): object {
  const text = `answer ${number}`;
  const usage = { ...USAGE, input_tokens: 11, output_tokens: 3 };
  if (url.endsWith("/embeddings")) {
    const data = [input].flat().map((_each, index) => ({ object: "embedding", index, embedding: [number, 0, 0, 1] }));
    return { object: "list", model, data, usage };
  }
  if (url.endsWith("/rerank")) {
    const results = (documents as unknown[]).map((_each, index) => ({ index, relevance_score: 1 / (number + index) }));
    return { model, results, usage };
  }
  if (url.endsWith("/moderations")) {
    const result = { flagged: false, categories: { violence: false }, category_scores: { violence: number / 1000 } };
    return { id: "modr-1", model, results: [input].flat().map(() => result) };
  }
  if (url.endsWith("/responses")) {
    const content = [{ type: "output_text", text, annotations: [] }];
    const output = [{ type: "message", id: `msg_${number}`, role: "assistant", status: "completed", content }];
    return { id: `resp_${number}`, object: "response", created_at: 1, status: "completed", model, output, usage };
  }
  if (url.endsWith("/messages")) {
    const content = [{ type: "text", text }];
    return { id: `msg_${number}`, type: "message", role: "assistant", model, content, stop_reason: "end_turn", usage };
  }
  if (url.endsWith("/chat/completions")) {
    const choice = { index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" };
    return { id: `chatcmpl-${number}`, object: "chat.completion", created: 1, model, choices: [choice], usage };
  }
  const choice = { index: 0, text, finish_reason: "stop", logprobs: null };
  return { id: `cmpl-${number}`, object: "text_completion", created: 1, model, choices: [choice], usage };
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
