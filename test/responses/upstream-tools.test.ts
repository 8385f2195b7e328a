/** Tools that run here, for models of upstreams: behind chat completions, and behind an upstream's own Responses API. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type OpenAI from "openai";
import { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startService } from "../support/service/service.ts";
import { startWordEmbedder } from "../support/vector-stores/word-embedder.ts";

const PAGE = { url: "https://tides.example/", title: "Tides", content: "A spring tide follows the new moon." };
const FAR = `
builtin_models: false
models:
  - id: agent
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies:
          - { match_tool: "/Otters/", text: "Otters swim【1】." }
          - { match_tool: "/new moon/", text: "After the new moon【w1】." }
          - { match: "otters", tool_calls: [{ name: file_search, arguments: { queries: [otters] } }] }
          - { match: "tide", tool_calls: [{ name: web_search, arguments: { query: spring tide } }] }
`;

const lifetime = new AsyncDisposableStack();
let client: OpenAI;
let store: string;
beforeAll(async () => {
  const embedder = lifetime.use(await startWordEmbedder());
  const engine = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ results: [PAGE] }));
  });
  lifetime.defer(() => void engine.close());
  await new Promise<void>((listening) => engine.listen(0, "127.0.0.1", listening));
  const far = await startService({ config: FAR });
  lifetime.defer(() => far.stop());
  const upstream = `engine: openai-compatible, base_url: "${far.origin}/v1", api_key: ${far.apiKey}, model: agent`;
  const config = `
builtin_models: false
web_search: { engine: endpoint, url: "http://127.0.0.1:${(engine.address() as AddressInfo).port}" }
models:
  - { id: words, task: embedding, deployments: [{ engine: openai-compatible, base_url: "${embedder.url}", model: words }] }
  - { id: by-chat, task: chat, deployments: [{ ${upstream} }] }
  - { id: by-responses, task: chat, deployments: [{ ${upstream}, abilities: { responses: true } }] }
`;
  const near = await startService({ config });
  lifetime.defer(async () => void (await near.stop()));
  client = near.client({ maxRetries: 0 });
  store = (await client.vectorStores.create({})).id;
  const file = await client.files.create({
    file: await toFile(Buffer.from("Otters swim."), "otters.md"),
    purpose: "assistants",
  });
  await client.vectorStores.files.createAndPoll(store, { file_id: file.id }, { pollIntervalMs: 50 });
});
afterAll(() => lifetime.disposeAsync());

describe.each(["by-chat", "by-responses"])("the model %s", (model) => {
  test.each([
    ["file_search", "What do otters do?", "file_citation"],
    ["web_search", "When is the spring tide?", "url_citation"],
  ])("answers with %s, streamed and complete", async (type, input, citation) => {
    const tool = type === "file_search" ? { type, vector_store_ids: [store] } : { type };
    const request = { model, input, tools: [tool as OpenAI.Responses.Tool] };
    const stream = await client.responses.create({ ...request, stream: true });
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of stream) events.push(event);

    const last = events.at(-1) as OpenAI.Responses.ResponseCompletedEvent;
    expect(events.map((event) => event.type)).toContain(`response.${type}_call.completed`);
    for (const { output } of [last.response, await client.responses.create(request)]) {
      expect(output.map((item) => item.type)).toEqual([`${type}_call`, "message"]);
      expect(output[1]).toMatchObject({ content: [{ annotations: [{ type: citation }] }] });
    }
  });
});
