/** The tool `file_search` of responses through the official client. */

import type OpenAI from "openai";
import { toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Service, startService } from "../support/service/service.ts";
import { administrator, caller } from "../support/service/team-services.ts";
import { startWordEmbedder, type WordEmbedder } from "../support/vector-stores/word-embedder.ts";

const search = (queries: unknown) => `{ name: file_search, arguments: ${JSON.stringify({ queries })} }`;
const config = (url: string) => `
builtin_models: false
models:
  - { id: words, task: embedding, deployments: [{ engine: openai-compatible, base_url: "${url}", model: words }] }
  - id: agent
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies:
          - { match_tool: "/No results/", text: "Nothing." }
          - { match_tool: "/did not run/", text: "It did not run." }
          - { match_tool: "/spring tide/", text: "It is higher【1】, and the moon pulls【9】." }
          - { match_tool: "/Otters/", text: "Otters swim【1†source】【1】." }
          - { match: "otters", tool_calls: [${search(["otters rivers"])}] }
          - { match: "both", tool_calls: [${search(["otters"])}, ${search(["spring tide"])}] }
          - { match: "malformed", tool_calls: [${search(7)}] }
          - { match: "tide", tool_calls: [${search(["spring tide"])}] }
          - { text: "No tool." }
`;
let embedder: WordEmbedder;
let service: Service;
let client: OpenAI;
let store: string;
const files: string[] = [];
beforeAll(async () => {
  embedder = await startWordEmbedder();
  service = await startService({ config: config(embedder.url) });
  client = service.client({ maxRetries: 0 });
  store = (await client.vectorStores.create({})).id;
  const texts = { "otters.md": "Otters swim in cold rivers.", "tides.md": "A spring tide is higher than a neap tide." };
  for (const [name, text] of Object.entries(texts)) {
    const { id: file_id } = await client.files.create({
      file: await toFile(Buffer.from(text), name),
      purpose: "assistants",
    });
    const attributes = { name };
    await client.vectorStores.files.createAndPoll(store, { file_id, attributes }, { pollIntervalMs: 50 });
    files.push(file_id);
  }
});
afterAll(async () => {
  await service?.stop();
  await embedder?.[Symbol.asyncDispose]();
});

function body(input: string, tool: object = {}, fields: object = {}) {
  const tools = [{ type: "file_search" as const, vector_store_ids: [store], ...tool }];
  return { model: "agent", input, tools, ...fields };
}

test("searches, answers from the results and cites their files", async () => {
  const response = await client.responses.create(body("What do otters do?", { max_num_results: 1 }));
  expect(response.output.map(({ type }) => type)).toEqual(["file_search_call", "message"]);
  expect(response.output[0]).toMatchObject({
    id: expect.stringMatching(/^fs_/),
    status: "completed",
    queries: ["otters rivers"],
    results: null,
  });
  const text = "Otters swim【1†source】【1】.";
  expect(response.output_text).toBe(text);
  const citation = { type: "file_citation", file_id: files[0], filename: "otters.md" };
  expect(response.output[1]).toMatchObject({
    content: [
      {
        annotations: [
          { ...citation, index: text.indexOf("【1†") },
          { ...citation, index: text.indexOf("【1】") },
        ],
      },
    ],
  });
});

test("shows results that are included, and follows filters and thresholds", async () => {
  const include = { include: ["file_search_call.results"] };
  const response = await client.responses.create(body("the tide", { max_num_results: 1 }, include));
  expect(response.output[0]).toMatchObject({
    results: [
      {
        file_id: files[1],
        filename: "tides.md",
        attributes: { name: "tides.md" },
        text: "A spring tide is higher than a neap tide.",
        score: expect.any(Number),
      },
    ],
  });
  const filters = { type: "eq", key: "name", value: "otters.md" };
  const filtered = await client.responses.create(body("the tide", { filters }, include));
  expect(filtered.output[0]).toMatchObject({ results: [{ file_id: files[0] }] });
  const ranking_options = { score_threshold: 1 };
  expect((await client.responses.create(body("the tide", { ranking_options }))).output_text).toBe("Nothing.");
});

test("streams the events of the call and the citations", async () => {
  const stream = await client.responses.create({ ...body("the tide", { max_num_results: 1 }), stream: true });
  const events: OpenAI.Responses.ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  const types = events.map(({ type }) => type);
  const ofCall = types.filter((type) => type.includes("file_search_call"));
  expect(ofCall).toEqual(
    ["in_progress", "searching", "completed"].map((state) => `response.file_search_call.${state}`),
  );
  const annotations = events.filter(({ type }) => type === "response.output_text.annotation.added");
  expect(annotations).toMatchObject([{ annotation: { type: "file_citation", file_id: files[1] } }]);
  expect(types.indexOf("response.output_text.annotation.added")).toBeLessThan(
    types.indexOf("response.output_text.done"),
  );
  const { sequence_number: last } = events.at(-1) as { sequence_number: number };
  expect(last).toBe(events.length - 1);
});

test("numbers the sources of several searches, and goes on from a stored response", async () => {
  const response = await client.responses.create(body("both", { max_num_results: 1 }));
  expect(response.output.map(({ type }) => type)).toEqual(["file_search_call", "file_search_call", "message"]);
  const next = await client.responses.create(body("Thanks", {}, { previous_response_id: response.id }));
  expect(next.output_text).toBe("No tool.");
  const again = await client.responses.create({
    model: "agent",
    input: [...response.output, { role: "user", content: "Hi" }] as never,
  });
  expect(again.output_text).toBe("No tool.");
});

test("tells the model of arguments without queries", async () => {
  const response = await client.responses.create(body("malformed"));
  expect(response.output[0]).toMatchObject({ type: "file_search_call", status: "failed", queries: [] });
  expect(response.output_text).toBe("It did not run.");
});

test("refuses stores of other projects, and settings that are not valid", async () => {
  const { id: project } = await administrator(service).projects.create({ name: "Other" });
  const account = await administrator(service).projects.serviceAccounts.create(project, { name: "app" });
  const other = caller(service, account.api_key?.value);
  await expect(other.responses.create(body("the tide"))).rejects.toMatchObject({
    status: 404,
    param: "tools[0].vector_store_ids[0]",
  });
  const refused: [object, string][] = [
    [{ max_num_results: 51 }, "tools[0].max_num_results"],
    [{ vector_store_ids: [] }, "tools[0].vector_store_ids"],
    [{ vector_store_ids: [store, "vs_other"] }, "tools[0].vector_store_ids"],
    [{ filters: { type: "eq", key: "a" } }, "tools[0].filters.value"],
    [{ max_results: 3 }, "tools[0].max_results"],
  ];
  for (const [tool, param] of refused) {
    await expect(client.responses.create(body("the tide", tool) as never)).rejects.toMatchObject({
      status: 400,
      param,
    });
  }
});

test("forces a search once, and bills it", async () => {
  const response = await client.responses.create(body("the tide", {}, { tool_choice: { type: "file_search" } }));
  expect(response.output.map(({ type }) => type)).toEqual(["file_search_call", "message"]);
  const start_time = Math.floor(Date.now() / 1000) - 86_400;
  const embedded = async () => {
    const page = await administrator(service).usage.embeddings({ start_time });
    return page.data.flatMap(({ results }) => results as { input_tokens?: number }[]).length;
  };
  await expect.poll(embedded).toBeGreaterThan(0);
});

test("masks passages by the guardrails of the project, for the model and in the results", async () => {
  const { data } = (await (await administer("GET", "/v1/organization/projects")).json()) as { data: { id: string }[] };
  const path = `/v1/organization/projects/${data[0]?.id}/guardrails`;
  const mask = { type: "words", words: ["cold rivers"], action: "mask", on: ["output"] };
  expect((await administer("POST", path, { guardrails: [mask] })).status).toBe(200);

  const response = await client.responses.create(body("otters", {}, { include: ["file_search_call.results"] }));
  const { results } = response.output[0] as OpenAI.Responses.ResponseFileSearchToolCall;
  const passages = results?.map(({ text }) => text).join("\n");
  expect(passages).toMatch(/^Otters swim in <\w+>\.$/m);

  const name = { type: "words", words: ["otters.md"], action: "mask", on: ["output"] };
  expect((await administer("POST", path, { guardrails: [name] })).status).toBe(200);
  const named = await client.responses.create(body("otters", {}, { include: ["file_search_call.results"] }));
  expect(JSON.stringify(named.output)).toContain('"type":"file_citation"');
  expect(JSON.stringify(named.output)).not.toContain("otters.md");
  expect((await administer("POST", path, { guardrails: [] })).status).toBe(200);
});

function administer(method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" };
  return service.fetch(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
}
