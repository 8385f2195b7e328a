/** POST /v1/responses/compact with the official client: the summary is written by a model, and read in the next turn. */

import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Service, startService } from "../support/service/service.ts";

let service: Service;
let client: OpenAI;
beforeAll(async () => {
  service = await startService({
    config: `
builtin_models: false
models:
  - id: agent
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies:
          - { match_tool: "42", text: "It is 42." }
          - { match: "Summarize this conversation", text: "The user is called Ada." }
          - { match: "/./" }
`,
  });
  client = service.client();
});
afterAll(() => service?.stop());

const CONVERSATION: OpenAI.Responses.ResponseInputItem[] = [
  { role: "user", content: "I am Ada." },
  { role: "assistant", content: "Hello Ada." },
  { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" },
  { type: "function_call_output", call_id: "call_1", output: "42" },
  { role: "user", content: "Thanks." },
];

const inputOf = (output: readonly unknown[]) => output as OpenAI.Responses.ResponseInputItem[];

test("keeps the user's messages and encrypts the summary, which later requests read", async () => {
  const compacted = await client.responses.compact({ model: "agent", input: CONVERSATION });
  expect(compacted).toMatchObject({ object: "response.compaction", usage: { output_tokens: expect.any(Number) } });
  const items = compacted.output as unknown as Record<string, string>[];
  expect(items.map(({ type, role }) => role ?? type)).toEqual(["user", "user", "compaction"]);
  expect(JSON.stringify(items[2])).not.toMatch(/\bAda[. ]/);

  const counted = (input: OpenAI.Responses.ResponseInputItem[]) =>
    client.responses.inputTokens.count({ model: "agent", input });
  const next = { role: "user" as const, content: "Who am I?" };
  const [without, withSummary] = [
    await counted([next]),
    await counted([inputOf(compacted.output)[2] as OpenAI.Responses.ResponseInputItem, next]),
  ];
  expect(withSummary.input_tokens).toBeGreaterThan(without.input_tokens + 8);
  const answer = await client.responses.create({ model: "agent", input: [...inputOf(compacted.output), next] });
  expect(answer.output_text).toBe("Who am I?");
  const stored = await client.responses.inputItems.list(answer.id, { order: "asc" });
  expect(JSON.stringify(stored.data)).toContain("The user is called Ada.");
});

test("reads text files as texts, also in other types", async () => {
  const file = (type: string) => ({
    type: "input_file" as const,
    filename: "notes.md",
    file_data: `data:${type};base64,${Buffer.from("# Łódź").toString("base64")}`,
  });
  const create = (type: string) =>
    client.responses.create({ model: "agent", input: [{ role: "user", content: [file(type)] }] });
  expect((await create("text/markdown")).output_text).toBe("notes.md:\n# Łódź");
  expect((await create("application/octet-stream")).output_text).toBe("notes.md:\n# Łódź");
});

test("compacts what a stored response continues", async () => {
  const first = await client.responses.create({ model: "agent", input: "I am Ada." });
  const compacted = await client.responses.compact({ model: "agent", previous_response_id: first.id });
  expect(compacted.output).toHaveLength(2);
});

test("does not read summaries of another project, or altered ones", async () => {
  const { output } = await client.responses.compact({ model: "agent", input: CONVERSATION });
  const { baseUrl: baseURL, adminKey: adminAPIKey } = service;
  const admin = new OpenAI({ baseURL, apiKey: null, adminAPIKey }).admin.organization;
  const project = await admin.projects.create({ name: "Other" });
  const account = await admin.projects.serviceAccounts.create(project.id, { name: "app" });
  const foreign = service.client({ apiKey: account.api_key?.value ?? "" });
  const [, , compaction] = inputOf(output);
  const refused = { status: 400, param: "input[0].type" };
  await expect(
    foreign.responses.create({ model: "agent", input: [compaction as OpenAI.Responses.ResponseInputItem] }),
  ).rejects.toMatchObject(refused);
  const altered = { type: "compaction" as const, encrypted_content: "AAAA" };
  await expect(client.responses.create({ model: "agent", input: [altered] })).rejects.toMatchObject(refused);
});

const LONG = "The otters swim in the river. ".repeat(200);
const HISTORY: OpenAI.Responses.ResponseInputItem[] = [
  { role: "developer", content: "Be brief." },
  { role: "user", content: LONG },
  { role: "assistant", content: LONG },
];
const NEXT = { role: "user" as const, content: "Who am I?" };
const context_management = [{ type: "compaction", compact_threshold: 500 }];

test("compacts a context above its threshold in the response, for the next turns too", async () => {
  const input = [...HISTORY, NEXT];
  const events = [];
  for await (const event of await client.responses.create({ model: "agent", input, context_management, stream: true }))
    events.push(event);
  expect(events.slice(2, 5).map(({ type }) => type)).toEqual([
    "response.output_item.added",
    "response.output_item.done",
    "response.output_item.added",
  ]);
  const last = events.at(-1);
  if (last?.type !== "response.completed") throw new Error(`The last event is ${last?.type}`);
  const { id, output, usage } = last.response;
  expect(output).toMatchObject([
    { type: "compaction", encrypted_content: expect.any(String) },
    { type: "message", content: [{ text: "Who am I?" }] },
  ]);
  expect(JSON.stringify(output[0])).not.toMatch(/\bAda[. ]/);
  // The summary read the entire context, and the answer the summary.
  expect(usage?.input_tokens).toBeGreaterThan(2_000);

  const count = async (body: OpenAI.Responses.InputTokenCountParams) =>
    (await client.responses.inputTokens.count({ model: "agent", ...body })).input_tokens;
  expect(await count({ previous_response_id: id, input: "And now?" })).toBeLessThan(200);
  expect(await count({ input: [...input, ...inputOf(output), NEXT] })).toBeLessThan(200);
});

test("leaves contexts alone that are below the threshold or have nothing but the newest turn", async () => {
  for (const input of ["Who am I?", LONG]) {
    const { output } = await client.responses.create({ model: "agent", input, context_management });
    expect(output.map(({ type }) => type)).toEqual(["message"]);
  }
});

test("keeps the calls of the newest results", async () => {
  const input = [...HISTORY, ...CONVERSATION.slice(2, 4)];
  const { output } = await client.responses.create({ model: "agent", input, context_management });
  expect(output.map(({ type }) => type)).toEqual(["compaction", "message"]);
});
