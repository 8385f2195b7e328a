/** /mcp/parlance: the service's operations as MCP tools, with the SDK's client in both eras of the protocol. */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type InProcessService, startService } from "../support/service/service.ts";
import { startWordEmbedder, type WordEmbedder } from "../support/vector-stores/word-embedder.ts";

let embedder: WordEmbedder;
let service: InProcessService;
beforeAll(async () => {
  embedder = await startWordEmbedder();
  service = await startService({
    config: `
builtin_models: false
mcp: { operations: true }
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true, price: { prompt: "0.0001", completion: "0.0001" } }] }
  - { id: speaks, task: speech, deployments: [{ engine: scripted, speech: {} }] }
  - { id: hears, task: transcription, deployments: [{ engine: scripted, replies: [{ text: "How is the weather?" }] }] }
  - { id: words, task: embedding, deployments: [{ engine: openai-compatible, base_url: "${embedder.url}", model: words }] }
`,
  });
});
afterAll(async () => {
  await service?.stop();
  await embedder?.[Symbol.asyncDispose]();
});

async function connect(mode: "legacy" | { pin: string }, apiKey = service.apiKey): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode } });
  const headers = { authorization: `Bearer ${apiKey}` };
  const url = new URL("/mcp/parlance", service.origin);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
}

describe.each([
  ["2025", "legacy" as const],
  ["2026-07-28", { pin: "2026-07-28" }],
])("a client of %s", (_name, mode) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect(mode);
  });
  afterAll(() => client?.close());
  const call = (name: string, input: Record<string, unknown> = {}) => client.callTool({ name, arguments: input });

  test("lists the operations for whose task the project has a model", async () => {
    const { tools } = await client.listTools();

    expect(tools.map(({ name }) => name)).toEqual([
      "list_models",
      "chat",
      "transcribe",
      "speak",
      "embed",
      "list_vector_stores",
      "search_vector_store",
    ]);
    expect(tools[1]?.inputSchema).toMatchObject({ type: "object", required: ["prompt"] });
  });

  test("asks a model", async () => {
    const { content } = await call("chat", { prompt: "Hello there", max_tokens: 20 });

    expect(content).toEqual([expect.objectContaining({ type: "text", text: expect.stringContaining("Hello there") })]);
  });

  test("speaks a text, and transcribes the recording", async () => {
    const spoken = await call("speak", { text: "How is the weather?", format: "wav" });
    const [audio] = spoken.content as [{ type: string; mimeType: string; data: string }];
    expect(audio).toMatchObject({ type: "audio", mimeType: "audio/wav" });
    expect(Buffer.from(audio.data, "base64").subarray(0, 4).toString()).toBe("RIFF");

    const written = await call("transcribe", { audio: audio.data });
    expect(written.content).toMatchObject([{ type: "text", text: expect.stringContaining("How is the weather?") }]);
  });

  test("lists the models", async () => {
    const { structuredContent } = await call("list_models");

    const { data } = structuredContent as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toContain("parrot");
  });

  test("embeds texts", async () => {
    const { structuredContent } = await call("embed", { texts: ["otters", "tides"] });

    expect(structuredContent).toMatchObject({ data: [{ embedding: expect.any(Array) }, { index: 1 }] });
  });

  test("searches a vector store of the project", async () => {
    const headers = { authorization: `Bearer ${service.apiKey}` };
    const created = await service.inject({ method: "POST", url: "/v1/vector_stores", headers, payload: {} });
    const { id } = created.json() as { id: string };
    const listed = await call("list_vector_stores");
    expect(JSON.stringify(listed.structuredContent)).toContain(id);

    const results = await call("search_vector_store", { vector_store_id: id, query: "otters" });
    expect(results.structuredContent).toMatchObject({ data: [] });
    const missing = await call("search_vector_store", { vector_store_id: "vs_1", query: "otters" });
    expect(missing).toMatchObject({ isError: true });
  });

  test.each<[string, string, Record<string, unknown>, string]>([
    ["a model that does not exist", "chat", { prompt: "Hi", model: "unknown" }, "unknown"],
    ["a field that is missing", "chat", {}, "prompt"],
    ["a field that does not exist", "chat", { prompt: "Hi", messages: [] }, "messages"],
    ["audio that is not base64", "transcribe", { audio: "***" }, "audio"],
  ])("names the error of an input with %s", async (_name, tool, input, message) => {
    const result = await call(tool, input);

    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toContain(message);
  });

  test("refuses a tool that does not exist", async () => {
    await expect(call("moderate", { text: "Hi" })).rejects.toThrow("Unknown tool: moderate");
  });
});

test("does not offer the operations at /mcp, nor without a key", async () => {
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const headers = { accept: "application/json, text/event-stream" };
  const post = (url: string, more = {}) =>
    service.inject({ method: "POST", url, payload: list, headers: { ...headers, ...more } });

  expect((await post("/mcp/parlance")).statusCode).toBe(401);
  const all = await post("/mcp", { authorization: `Bearer ${service.apiKey}` });
  expect(all.body).not.toContain("transcribe");
  expect((await post("/mcp/unknown", { authorization: `Bearer ${service.apiKey}` })).statusCode).toBe(404);
});

test("bills the request of a call to the project of the key", async () => {
  const client = await connect("legacy");
  await client.callTool({ name: "chat", arguments: { prompt: "Bill this" } });
  await client.close();
  const headers = { authorization: `Bearer ${service.adminKey}` };
  const history = async () => {
    const { data } = (await service.inject({ url: "/v1/organization/requests?limit=100", headers })).json() as {
      data: { operation: string; model: string }[];
    };
    return data;
  };
  await expect.poll(history).toContainEqual(expect.objectContaining({ model: "parrot" }));
  await expect.poll(history).toContainEqual(expect.objectContaining({ model: "mcp/parlance/chat" }));
});

test("counts a call once against the rate limit of the key", async () => {
  const limited = await startService({
    config: `
builtin_models: false
mcp: { operations: true }
limits: { key: { requests_per_minute: 1 } }
models: [{ id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }]
`,
  });
  try {
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "chat", arguments: { prompt: "Hi" } } };
    const headers = { authorization: `Bearer ${limited.apiKey}`, accept: "application/json, text/event-stream" };
    const send = () => limited.inject({ method: "POST", url: "/mcp/parlance", payload: call, headers });
    expect((await send()).body).not.toContain('"isError":true');
    expect((await send()).body).toMatch(/isError.*[Ll]imit|[Ll]imit.*isError/s);
  } finally {
    await limited.stop();
  }
});
