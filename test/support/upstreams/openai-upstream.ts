/** Upstream without faults: serves a chat model in OpenAI's format on loopback. */

import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { json } from "node:stream/consumers";
import type { ChatModel, ChatRequest } from "../../../src/contracts/chat-model.ts";
import { Fault } from "../../../src/kernel/faults.ts";
import type { TokenUsage } from "../../../src/kernel/usage.ts";
import { makeChatRequest } from "../service/chat-request.ts";

interface ReceivedRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

export interface OpenAiUpstream {
  baseUrl: string;
  port: number;
  received: ReceivedRequest[];
  /** Number of open connections. */
  openSockets(): number;
  close(): Promise<void>;
}

export interface OpenAiUpstreamOptions {
  /** True if it reports usage on request. */
  givesUsage?: boolean;
  /** Default: 127.0.0.1. */
  host?: string;
  /** Default: a free one. */
  port?: number;
  /** IDs that GET /models lists. Default: none. */
  models?: readonly string[];
}

const STATUS: Partial<Record<Fault["kind"], number>> = {
  "invalid-request": 400,
  "request-rate-limited": 429,
  unavailable: 503,
};

export async function startOpenAiUpstream(
  model: ChatModel,
  options: OpenAiUpstreamOptions = {},
): Promise<OpenAiUpstream> {
  const received: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => void answer(request, response));
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "GET") {
      const data = (options.models ?? []).map((id) => ({ id, object: "model" }));
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ object: "list", data }));
      return;
    }
    const body = (await json(request)) as Record<string, unknown>;
    received.push({ path: request.url ?? "", headers: request.headers, body });
    const left = new AbortController();
    response.on("close", () => left.abort());
    try {
      await (body.stream === true ? stream(body, response, left.signal) : complete(body, response, left.signal));
    } catch (error) {
      if (response.headersSent) response.destroy();
      else refuse(response, error);
    }
  }

  async function stream(body: Record<string, unknown>, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const envelope = {
      id: "chatcmpl-upstream",
      object: "chat.completion.chunk",
      created: 1700000000,
      model: body.model,
    };
    const send = (data: object) => response.write(`data: ${JSON.stringify({ ...envelope, ...data })}\n\n`);
    for await (const event of model.chat(toRequest(body), signal)) {
      if (event.type === "start") {
        response.writeHead(200, { "content-type": "text/event-stream" });
        send({ choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] });
      } else if (event.type === "text") {
        send({ choices: [{ index: 0, delta: { content: event.text }, finish_reason: null }] });
      } else if (event.type === "choice-end") {
        send({ choices: [{ index: 0, delta: {}, finish_reason: event.reason }] });
      } else if (event.type === "finish") {
        const isAsked = (body.stream_options as { include_usage?: boolean } | undefined)?.include_usage === true;
        if (isAsked && options.givesUsage !== false) send({ choices: [], usage: toUsage(event.usage) });
        response.end("data: [DONE]\n\n");
      }
    }
  }

  async function complete(body: Record<string, unknown>, response: ServerResponse, signal: AbortSignal): Promise<void> {
    let content = "";
    let reason = "";
    for await (const event of model.chat(toRequest(body), signal)) {
      if (event.type === "text") content += event.text;
      if (event.type === "choice-end") reason = event.reason;
      if (event.type !== "finish") continue;
      const completion = {
        id: "chatcmpl-upstream",
        object: "chat.completion",
        created: 1700000000,
        model: body.model,
        choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: reason }],
        ...(options.givesUsage === false ? {} : { usage: toUsage(event.usage) }),
      };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(completion));
    }
  }

  const host = options.host ?? "127.0.0.1";
  server.listen(options.port ?? 0, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://${host}:${port}/v1`,
    port,
    received,
    openSockets: () => sockets.size,
    async close() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, "close");
    },
  };
}

function toRequest(body: Record<string, unknown>): ChatRequest {
  const { max_tokens, stop } = body;
  return makeChatRequest({
    messages: body.messages as ChatRequest["messages"],
    maxTokens: max_tokens as number | undefined,
    stop: typeof stop === "string" ? [stop] : ((stop as string[] | undefined) ?? []),
  });
}

function toUsage(usage: TokenUsage): object {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens },
    completion_tokens_details: { reasoning_tokens: 7 },
  };
}

function refuse(response: ServerResponse, error: unknown): void {
  const fault = error instanceof Fault ? error : undefined;
  const body = {
    error: { message: fault?.message ?? "bug", type: "error", param: fault?.param ?? null, code: fault?.code ?? null },
  };
  const status = STATUS[fault?.kind ?? "upstream-failed"] ?? 500;
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
