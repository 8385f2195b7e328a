/**
 * Many upstreams in one process, controlled by the parent's messages. Each has a limit of concurrent streams, a queue, a
 * prefix cache that shortens the time to the first token, and vLLM's metrics.
 */

import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { json } from "node:stream/consumers";
import type { FleetCommand, FleetReply, FleetStats } from "./upstream-fleet.ts";

const SLOTS = 64;
const PREFILL_TOKENS_PER_SECOND = 4000;
const EVENTS = 8;
const EVENT_MS = 1500;
const CACHE_TOKENS = 100_000;
const CHARACTERS_PER_TOKEN = 4;

interface ChatBody {
  messages: { role: string; content: string }[];
}

const stats: FleetStats = {
  requests: 0,
  promptTokens: 0,
  cachedTokens: 0,
  laterTurns: 0,
  cachedTurns: 0,
  beyondBound: 0,
  highestRunning: 0,
};

class Upstream {
  readonly server: Server;
  port = 0;
  running = 0;
  slowness = 1;
  /** Whether it takes new requests. */
  isListed = true;
  readonly #sockets = new Set<Socket>();
  readonly #waiting: (() => void)[] = [];
  /** Tokens of each cached message by the hash of the prompt up to it, least recently used first. */
  readonly #cache = new Map<string, number>();
  #cacheTokens = 0;

  constructor() {
    this.server = createServer((request, response) => void this.#answer(request, response));
    this.server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  async start(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    this.port = (this.server.address() as AddressInfo).port;
    return this.port;
  }

  /** Ends as a killed process does: connections are reset. */
  kill(): void {
    this.isListed = false;
    this.server.close();
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === "/metrics") {
      response.end(
        `vllm:num_requests_running{engine="0"} ${this.running}.0\nvllm:num_requests_waiting{engine="0"} ${this.#waiting.length}.0\n`,
      );
      return;
    }
    const { messages } = (await json(request)) as ChatBody;
    const isGone = () => response.destroyed || response.writableEnded;
    if (this.running >= SLOTS) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.running += 1;
    noteAdmission(this.running);
    try {
      if (isGone()) return;
      const cachedTokens = this.#read(messages);
      const promptTokens = messages.reduce((sum, { content }) => sum + tokensOf(content), 0);
      stats.requests += 1;
      stats.promptTokens += promptTokens;
      stats.cachedTokens += cachedTokens;
      if (messages.length > 2) stats.laterTurns += 1;
      if (messages.length > 2 && cachedTokens > tokensOf(messages[0]?.content ?? "")) stats.cachedTurns += 1;
      await pause(((1000 * (promptTokens - cachedTokens)) / PREFILL_TOKENS_PER_SECOND) * this.slowness);
      if (isGone()) return;
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (let event = 0; event < EVENTS && !isGone(); event += 1) {
        send(response, { choices: [{ index: 0, delta: { content: `${event} ` }, finish_reason: null }] });
        await pause(EVENT_MS * (0.5 + Math.random()) * this.slowness);
      }
      const usage = {
        prompt_tokens: promptTokens,
        completion_tokens: EVENTS,
        total_tokens: promptTokens + EVENTS,
        prompt_tokens_details: { cached_tokens: cachedTokens },
      };
      send(response, { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
      send(response, { choices: [], usage });
      response.end("data: [DONE]\n\n");
    } finally {
      this.running -= 1;
      this.#waiting.shift()?.();
    }
  }

  /** Returns the cached tokens of the prompt, and caches all of it. */
  #read(messages: ChatBody["messages"]): number {
    const hash = createHash("sha1");
    let cached = 0;
    let isHit = true;
    for (const { content } of messages) {
      const key = hash.update(content).copy().digest("base64");
      const tokens = tokensOf(content);
      isHit &&= this.#cache.has(key);
      if (isHit) cached += tokens;
      if (this.#cache.delete(key)) this.#cacheTokens -= tokens;
      this.#cache.set(key, tokens);
      this.#cacheTokens += tokens;
    }
    for (const [key, tokens] of this.#cache) {
      if (this.#cacheTokens <= CACHE_TOKENS) break;
      this.#cache.delete(key);
      this.#cacheTokens -= tokens;
    }
    return cached;
  }
}

function tokensOf(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

function send(response: ServerResponse, data: object): void {
  const envelope = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model: "fleet" };
  response.write(`data: ${JSON.stringify({ ...envelope, ...data })}\n\n`);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

const upstreams: Upstream[] = [];

/** Compares with the bound of prefix routing, and two more for requests between the service and here. */
function noteAdmission(running: number): void {
  stats.highestRunning = Math.max(stats.highestRunning, running);
  const live = upstreams.filter(({ isListed }) => isListed);
  const mean = live.reduce((sum, each) => sum + each.running, 0) / live.length;
  if (running > Math.ceil(1.25 * (mean + 1)) + 2) stats.beyondBound += 1;
}

async function obey(command: FleetCommand): Promise<FleetReply> {
  switch (command.do) {
    case "start": {
      const upstream = new Upstream();
      upstreams.push(upstream);
      return { port: await upstream.start() };
    }
    case "kill":
      find(command.port).kill();
      return {};
    case "drain":
      find(command.port).isListed = false;
      return {};
    case "slow":
      find(command.port).slowness = command.factor;
      return {};
    case "stats": {
      const now = { ...stats };
      Object.assign(stats, {
        requests: 0,
        promptTokens: 0,
        cachedTokens: 0,
        laterTurns: 0,
        cachedTurns: 0,
        beyondBound: 0,
        highestRunning: 0,
      });
      return { stats: now };
    }
  }
}

function find(port: number): Upstream {
  const found = upstreams.find((each) => each.port === port);
  if (found === undefined) throw new Error(`no upstream at ${port}`);
  return found;
}

process.on("message", ({ id, ...command }: FleetCommand & { id: number }) => {
  void obey(command).then((reply) => process.send?.({ id, ...reply }));
});
process.on("disconnect", () => process.exit());
