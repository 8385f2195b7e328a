/** Servers that answer as well-known inference servers do, as far as a connection's test asks them. */

import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** Answers by method and path. */
type Routes = Readonly<Record<string, Reply>>;

export interface KnownServer extends AsyncDisposable {
  /** Without a path. */
  origin: string;
  port: number;
  received: { url: string; headers: IncomingMessage["headers"]; body: unknown }[];
}

const list = (...data: object[]) => ({ body: { object: "list", data } });

export const KNOWN_SERVERS: Readonly<Record<string, Routes>> = {
  vllm: {
    "GET /v1/models": list({ id: "Qwen/Qwen3-8B", object: "model", owned_by: "vllm", max_model_len: 40_960 }),
    "GET /version": { body: { version: "0.11.0" } },
  },
  "llama-server": {
    "GET /v1/models": {
      ...list({ id: "qwen.gguf", object: "model", owned_by: "llamacpp", meta: { n_ctx_train: 32_768 } }),
      headers: { server: "llama.cpp" },
    },
    "GET /props": {
      body: {
        build_info: "b6000-abc",
        default_generation_settings: { n_ctx: 8192 },
        modalities: { vision: true, audio: false },
      },
    },
  },
  ollama: {
    "GET /v1/models": list(
      { id: "qwen3:8b", object: "model", owned_by: "library" },
      { id: "all-minilm", object: "model", owned_by: "library" },
    ),
    "GET /api/version": { body: { version: "0.12.3" } },
    "POST /api/show": {
      body: { capabilities: ["completion", "tools", "thinking"], model_info: { "qwen3.context_length": 40_960 } },
    },
  },
  "lm-studio": {
    "GET /v1/models": list({ id: "gemma-3-4b", object: "model", owned_by: "organization_owner" }),
    "GET /api/v0/models": list({
      id: "gemma-3-4b",
      type: "vlm",
      capabilities: ["tool_use"],
      max_context_length: 131_072,
      loaded_context_length: 4096,
    }),
  },
  litellm: {
    "GET /v1/models": {
      ...list({ id: "gpt-x", object: "model", owned_by: "openai" }),
      headers: { "x-litellm-version": "1.80.0" },
    },
  },
  anthropic: {
    "GET /v1/models": {
      body: {
        data: [{ type: "model", id: "claude-x", display_name: "X", max_input_tokens: 200_000 }],
        has_more: false,
      },
    },
  },
  "openai-compatible": { "GET /v1/models": list({ id: "thing", object: "model" }) },
};

/** `key`: the key that it asks for; left out: none. */
export async function startKnownServer(routes: Routes, { key }: { key?: string } = {}): Promise<KnownServer> {
  const received: KnownServer["received"] = [];
  const server = createServer(async (request, response) => {
    const body = request.method === "POST" ? await json(request) : undefined;
    const url = request.url ?? "";
    received.push({ url, headers: request.headers, body });
    const isAllowed = key === undefined || request.headers.authorization === `Bearer ${key}`;
    if (!isAllowed) {
      response.writeHead(401, { "content-type": "application/json" }).end('{"error":{"message":"No key"}}');
      return;
    }
    if (/\/(chat\/completions|messages)$/.test(url)) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const delta = url.endsWith("messages")
        ? { type: "content_block_delta", delta: { type: "text_delta", text: "Hi" } }
        : { choices: [{ index: 0, delta: { content: "Hi" } }] };
      response.end(`data: ${JSON.stringify(delta)}\n\ndata: [DONE]\n\n`);
      return;
    }
    const reply = routes[`${request.method} ${url}`] ?? { status: 404, body: { error: { message: "Not here" } } };
    const headers = { "content-type": "application/json", ...reply.headers };
    response.writeHead(reply.status ?? 200, headers).end(JSON.stringify(reply.body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    received,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, "close");
    },
  };
}
