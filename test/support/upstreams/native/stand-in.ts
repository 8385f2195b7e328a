/** Server with a provider's own API on loopback: gives prepared answers, or those of a chat model in its format. */

import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { ChatModel, FinishReason } from "../../../../src/contracts/chat-model.ts";
import { Fault } from "../../../../src/kernel/faults.ts";
import type { TokenUsage } from "../../../../src/kernel/usage.ts";
import { makeChatRequest } from "../../service/chat-request.ts";

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
  /** The body as it came. */
  text: string;
}

export interface PreparedAnswer {
  status?: number;
  headers?: Record<string, string>;
  /** An object is sent as JSON. */
  body: string | Buffer | object;
}

interface ReadPrompt {
  say: string;
  maxTokens: number | undefined;
  stop: readonly string[];
}

/** How a provider writes an answer, and what it takes. */
export interface WireFormat {
  readonly contentType: string;
  /** Reads a request of a streamed answer. Throws a RequestProblem for what the provider would refuse. */
  read(request: ReceivedRequest): ReadPrompt;
  begin(usage: Pick<TokenUsage, "promptTokens" | "cachedTokens">): string | Buffer;
  text(text: string): string | Buffer;
  end(reason: FinishReason, stopText: string | undefined, usage: TokenUsage): string | Buffer;
  /** The body of a refusal. */
  error(status: number, message: string): object;
}

/** A request that the provider would refuse. */
export class RequestProblem extends Error {}

export interface StandIn {
  origin: string;
  received: ReceivedRequest[];
  /** Adds an answer to those that the next requests get, in order. */
  reply(...answers: PreparedAnswer[]): void;
  /** Removes the answers that nothing has asked for. */
  drop(): void;
  close(): Promise<void>;
}

export async function startStandIn(format: WireFormat, model?: ChatModel): Promise<StandIn> {
  const received: ReceivedRequest[] = [];
  const prepared: PreparedAnswer[] = [];
  const server = createServer((request, response) => void answer(request, response));

  async function answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const left = new AbortController();
    response.on("close", () => left.abort());
    const written = await text(message).catch(() => "");
    const { method = "", url: path = "", headers } = message;
    if (method === "GET") {
      send(response, { body: { data: [], models: [] } });
      return;
    }
    const request = { method, path, headers, text: written, body: parse(written) };
    received.push(request);
    try {
      const prompt = format.read(request);
      const next = prepared.shift();
      if (next !== undefined) send(response, next);
      else if (model === undefined) send(response, { status: 500, body: format.error(500, "no answer is prepared") });
      else await stream(prompt, model, response, left.signal);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else if (error instanceof RequestProblem || (error instanceof Fault && error.kind === "invalid-request")) {
        send(response, { status: 400, body: format.error(400, error.message) });
      } else send(response, { status: 500, body: format.error(500, String(error)) });
    }
  }

  async function stream(prompt: ReadPrompt, chat: ChatModel, response: ServerResponse, signal: AbortSignal) {
    const { say, maxTokens, stop } = prompt;
    let reason: FinishReason = "stop";
    let stopText: string | undefined;
    for await (const event of chat.chat(makeChatRequest({ say, maxTokens, stop, temperature: 0 }), signal)) {
      if (event.type === "start") {
        response.writeHead(200, { "content-type": format.contentType });
        response.write(format.begin(event));
      } else if (event.type === "text") response.write(format.text(event.text));
      else if (event.type === "choice-end") ({ reason, stopText } = { stopText: undefined, ...event });
      else if (event.type === "finish") response.end(format.end(reason, stopText, event.usage));
    }
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    reply: (...answers) => void prepared.push(...answers),
    drop: () => void prepared.splice(0),
    async close() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, "close");
    },
  };
}

function parse(written: string): Record<string, unknown> {
  try {
    return JSON.parse(written) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function send(response: ServerResponse, { status = 200, headers = {}, body }: PreparedAnswer): void {
  const isObject = typeof body === "object" && !Buffer.isBuffer(body);
  const type = isObject ? { "content-type": "application/json" } : {};
  response.writeHead(status, { ...type, ...headers }).end(isObject ? JSON.stringify(body) : body);
}

/** Server-sent events, named where they have a `type`. */
export function toEvents(events: readonly object[], isNamed = true): string {
  return events
    .map((event) => {
      const { type } = event as { type?: string };
      return `${isNamed && type !== undefined ? `event: ${type}\n` : ""}data: ${JSON.stringify(event)}\n\n`;
    })
    .join("");
}
