/** An upstream of every API that repeats what it was sent, in answers that are cut at random bytes. */

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface EchoUpstream extends AsyncDisposable {
  baseUrl: string;
  /** Bodies as they arrived, with their paths. */
  received: string[];
  /** Returns everything that arrived, and forgets it. */
  take(): string;
  /** The next answers are errors that repeat the request. */
  failing: boolean;
}

type Body = Record<string, unknown> & { messages?: { role: string; content: unknown }[] };

/** `random` decides where answers are cut. */
export async function startEchoUpstream(random: () => number = Math.random): Promise<EchoUpstream> {
  const received: string[] = [];
  const state = { failing: false };
  const server = createServer(async (request, response) => {
    const raw = await text(request);
    received.push(`${request.url} ${raw}`);
    const body = (raw.startsWith("{") ? JSON.parse(raw) : {}) as Body;
    if (state.failing) {
      const message = `I cannot do this: ${raw}`;
      return void response
        .writeHead(400, { "content-type": "application/json" })
        .end(JSON.stringify({ error: { message, type: "invalid_request_error" } }));
    }
    if (request.url?.endsWith("/embeddings")) return embeddings(body, response);
    const other = OTHER_ANSWERS[request.url?.replace(/^\/v1/, "") ?? ""];
    if (other !== undefined) {
      return void response.writeHead(200, { "content-type": other.type }).end(other.body);
    }
    const said = lastText(body);
    if (body.stream !== true) return complete(body, said, response);
    await stream(body, said, response, random);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    received,
    take: () => received.splice(0).join("\n"),
    get failing() {
      return state.failing;
    },
    set failing(value) {
      state.failing = value;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers of operations that do not repeat anything. */
const OTHER_ANSWERS: Readonly<Record<string, { type: string; body: string | Buffer }>> = {
  "/moderations": {
    type: "application/json",
    body: JSON.stringify({
      id: "m",
      model: "echo",
      results: [{ flagged: false, categories: {}, category_scores: {}, category_applied_input_types: {} }],
    }),
  },
  "/images/generations": {
    type: "application/json",
    body: JSON.stringify({ created: 1, data: [{ b64_json: Buffer.from("image").toString("base64") }] }),
  },
  "/audio/speech": { type: "audio/pcm", body: Buffer.alloc(4800) },
};

function lastText({ messages = [], prompt }: Body): string {
  if (typeof prompt === "string") return prompt;
  const content = messages.at(-1)?.content ?? "";
  return typeof content === "string" ? content : JSON.stringify(content);
}

function embeddings({ input, model }: Body, response: ServerResponse): void {
  const inputs = Array.isArray(input) ? input : [input];
  const data = inputs.map((_, index) => ({ object: "embedding", index, embedding: [1, 0] }));
  const usage = { prompt_tokens: 1, total_tokens: 1 };
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ object: "list", data, model, usage }));
}

const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };

function complete({ tools, model, prompt }: Body, said: string, response: ServerResponse): void {
  const call = { id: "call_1", type: "function", function: { name: "send", arguments: JSON.stringify({ to: said }) } };
  const message =
    tools === undefined
      ? { role: "assistant", content: said }
      : { role: "assistant", content: null, tool_calls: [call] };
  const choice = prompt === undefined ? { index: 0, message } : { index: 0, text: said };
  const choices = [{ ...choice, finish_reason: tools === undefined ? "stop" : "tool_calls" }];
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ id: "c", object: "chat.completion", created: 1, model, choices, usage }));
}

async function stream({ tools, model, prompt }: Body, said: string, response: ServerResponse, random: () => number) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const frames: string[] = [];
  const send = (choice: object | undefined) => {
    const choices = choice === undefined ? [] : [{ index: 0, finish_reason: null, ...choice }];
    const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model, choices };
    frames.push(`data: ${JSON.stringify({ ...chunk, ...(choice === undefined && { usage }) })}\n\n`);
  };
  const toolCall = (fields: object) => ({ delta: { tool_calls: [{ index: 0, ...fields }] } });
  if (tools !== undefined) {
    send(toolCall({ id: "call_1", type: "function", function: { name: "send", arguments: "" } }));
    for (const piece of pieces(JSON.stringify({ to: said }), random))
      send(toolCall({ function: { arguments: piece } }));
    send({ delta: {}, finish_reason: "tool_calls" });
  } else {
    for (const piece of pieces(said, random))
      send(prompt === undefined ? { delta: { content: piece } } : { text: piece });
    send(prompt === undefined ? { delta: {}, finish_reason: "stop" } : { text: "", finish_reason: "stop" });
  }
  send(undefined);
  frames.push("data: [DONE]\n\n");
  const bytes = Buffer.from(frames.join(""));
  for (let start = 0; start < bytes.length; ) {
    const end = Math.min(bytes.length, start + 1 + Math.floor(random() * 400));
    response.write(bytes.subarray(start, end));
    start = end;
    if (random() < 0.3) await new Promise(setImmediate);
  }
  response.end();
}

/** Cuts a text at random characters. */
function* pieces(said: string, random: () => number): Iterable<string> {
  const characters = [...said];
  for (let start = 0; start < characters.length; ) {
    const end = start + 1 + Math.floor(random() * 6);
    yield characters.slice(start, end).join("");
    start = end;
  }
}
