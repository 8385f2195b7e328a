/** JSON from an upstream that cannot enforce it: requested in the prompt, validated, and requested once more. */

import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { ScriptedChat } from "../../src/engines/scripted/scripted-chat.ts";
import { scriptedSettings } from "../../src/engines/scripted/settings.ts";
import { type Service, startService } from "../support/service/service.ts";
import { type OpenAiUpstream, startOpenAiUpstream } from "../support/upstreams/openai-upstream.ts";

const Event = z.object({ name: z.string(), day: z.int().min(1).max(31) });
const FAIR = { name: "Science fair", day: 5 };
const VALID = JSON.stringify(FAIR);
const SCHEMA = {
  type: "object",
  properties: { name: { type: "string" }, day: { type: "integer", minimum: 1, maximum: 31 } },
  required: ["name", "day"],
};

/** The last user message of the second request contains the validation error. */
const REPLIES = [
  { match: "/not valid: .*day/", text: VALID },
  { match: "not valid: it is not JSON", text: "I still do not feel like it." },
  { match: "wrong day", text: '{"name":"Science fair","day":32}' },
  { match: "fenced", text: `\`\`\`json\n${VALID}\n\`\`\`\n` },
  { match: "thoughts", text: `<think>\nThe fifth, {I think}.\n</think>\n\n\`\`\`\n${VALID}\n\`\`\`` },
  { match: "chat", text: "I do not feel like it." },
  { match: "list", text: "[1, 2]" },
  { match: "/not valid: .*object/", text: '{"list":[1,2]}' },
  { text: VALID },
];

let upstream: OpenAiUpstream;
let able: Service;
let service: Service;
let client: OpenAI;
beforeAll(async () => {
  upstream = await startOpenAiUpstream(new ScriptedChat(scriptedSettings.parse({ replies: REPLIES })));
  able = await startService({
    config: JSON.stringify({
      builtin_models: false,
      models: [
        {
          id: "far",
          task: "chat",
          deployments: [
            {
              engine: "scripted",
              abilities: { choices: 4, tools: true },
              replies: [
                { match: "not valid", text: VALID },
                { match: "tool", tool_calls: [{ name: "f", arguments: { a: 1 } }] },
                { texts: [VALID, "no", VALID] },
              ],
            },
          ],
        },
      ],
    }),
  });
  const near = { engine: "openai-compatible", base_url: upstream.baseUrl, model: "far" };
  const words = { ...near, abilities: { json_schema: false, tools: false, vision: false, logprobs: false } };
  const other = { ...near, base_url: able.baseUrl, api_key: able.apiKey, abilities: { json_schema: false } };
  service = await startService({
    config: JSON.stringify({
      builtin_models: false,
      models: [
        { id: "words", task: "chat", price: { completion: "0.001" }, deployments: [words] },
        { id: "silent", task: "chat", deployments: [near] },
        { id: "held", task: "chat", deployments: [{ ...near, abilities: { json_schema: true } }] },
        { id: "several", task: "chat", deployments: [other] },
        { id: "spare", task: "chat", deployments: [words, other] },
      ],
    }),
  });
  client = service.client({ maxRetries: 0 });
});
afterAll(async () => {
  await service.stop();
  await able.stop();
  await upstream.close();
});
beforeEach(() => {
  upstream.received.length = 0;
});

const sent = (index: number) => upstream.received[index]?.body ?? {};
const ask = (content: string, model = "words") => ({
  model,
  messages: [{ role: "user" as const, content }],
  response_format: zodResponseFormat(Event, "event"),
});

describe.each([false, true])("streamed: %s", (stream) => {
  const parsed = async (body: ReturnType<typeof ask> & { n?: number }) => {
    const completions = client.chat.completions;
    return stream ? completions.stream(body).finalChatCompletion() : completions.parse(body);
  };

  test("forwards a valid answer after one request, with the schema in the prompt", async () => {
    const { choices } = await parsed(ask("When is the fair?"));
    expect(choices[0]).toMatchObject({ message: { content: VALID, parsed: FAIR }, finish_reason: "stop" });
    expect(upstream.received).toHaveLength(1);
    const body = sent(0);
    expect(body).not.toHaveProperty("response_format");
    expect(body).not.toHaveProperty("stream");
    const [system, user] = body.messages as { role: string; content: string }[];
    expect(system?.role).toBe("system");
    expect(JSON.parse(system?.content.split("\n\n")[1] ?? "")).toMatchObject({ required: ["name", "day"] });
    expect(user).toEqual({ role: "user", content: "When is the fair?" });
  });

  test("retries an invalid answer once, with the validation error", async () => {
    const { choices, usage } = await parsed(ask("wrong day"));
    expect(choices[0]?.message.parsed).toEqual(FAIR);
    expect(upstream.received).toHaveLength(2);
    const again = sent(1).messages as { role: string; content: string }[];
    expect(again.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
    expect(again[3]?.content).toMatch(/day.*31/);
    if (!stream) expect(usage?.completion_tokens).toBe(2 * 4);
  });

  test.each(["fenced", "thoughts"])("strips text around the JSON (%s)", async (content) => {
    const { choices } = await parsed(ask(content));
    expect(choices[0]?.message.content).toBe(VALID);
    expect(upstream.received).toHaveLength(1);
  });

  test("validates each choice separately", async () => {
    const { choices } = await parsed({ ...ask("Three, please.", "several"), n: 3 });
    expect(choices.map(({ index, message }) => [index, message.parsed])).toEqual([
      [0, FAIR],
      [1, FAIR],
      [2, FAIR],
    ]);
  });

  test("returns 502 with the validation error after two invalid answers", async () => {
    const failed = await parsed(ask("chat")).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(OpenAI.InternalServerError);
    expect(failed).toMatchObject({ status: 502, code: "upstream_error" });
    expect((failed as Error).message).toMatch(/twice.*response_format.*not JSON/);
    expect(upstream.received).toHaveLength(2);
  });

  test("tries another deployment after two invalid answers", async () => {
    const { choices } = await parsed(ask("chat", "spare"));
    expect(choices[0]?.message.parsed).toEqual(FAIR);
  });
});

test("records the usage of invalid answers without opening the circuit for other callers", async () => {
  for (let round = 0; round < 6; round += 1) {
    await expect(client.chat.completions.create(ask("chat"))).rejects.toMatchObject({ status: 502 });
  }
  expect((await client.chat.completions.create(ask("Still there?"))).choices[0]?.message.content).toBe(VALID);
  const start = Math.floor(Date.now() / 1000) - 86_400;
  const used = async () => {
    const path = `/v1/organization/usage/completions?start_time=${start}&bucket_width=1d&group_by=model`;
    const response = await service.fetch(path, { headers: { authorization: `Bearer ${service.adminKey}` } });
    const { data } = (await response.json()) as { data: { results: { model: string; output_tokens: number }[] }[] };
    const rows = data.flatMap(({ results }) => results).filter(({ model }) => model === "words");
    return rows.reduce((sum, { output_tokens }) => sum + output_tokens, 0);
  };
  // Twelve answers of at least six tokens were discarded.
  await expect.poll(used).toBeGreaterThan(72);
});

test("accepts any JSON object when no schema is given", async () => {
  const body = { ...ask("list"), response_format: { type: "json_object" as const } };
  const { choices } = await client.chat.completions.create(body);
  expect(JSON.parse(choices[0]?.message.content ?? "")).toEqual({ list: [1, 2] });
  expect(upstream.received).toHaveLength(2);
});

test("appends the schema to the existing system message", async () => {
  const messages = [
    { role: "developer" as const, content: "Be brief." },
    { role: "user" as const, content: "When?" },
  ];
  await client.chat.completions.create({ ...ask(""), messages });
  const [system, ...others] = sent(0).messages as { role: string; content: string }[];
  expect(system?.role).toBe("developer");
  expect(system?.content).toMatch(/^Be brief\.\n\n.*"properties"/s);
  expect(others).toEqual([messages[1]]);
});

test("returns an answer that max_tokens truncates unchanged, with finish reason length", async () => {
  const { choices } = await client.chat.completions.create({ ...ask("When?"), max_tokens: 2 });
  expect(choices[0]).toMatchObject({ finish_reason: "length" });
  expect(upstream.received).toHaveLength(1);
});

test("does not validate tool calls as JSON output", async () => {
  const tools = [{ type: "function" as const, function: { name: "f" } }];
  for (const stream of [false, true]) {
    const body = { ...ask("a tool", "several"), tools };
    const completions = client.chat.completions;
    const answer = stream ? await completions.stream(body).finalChatCompletion() : await completions.create(body);
    const [call] = answer.choices[0]?.message.tool_calls ?? [];
    expect(call).toMatchObject({ function: { name: "f", arguments: '{"a":1}' } });
    expect(answer.choices[0]?.finish_reason).toBe("tool_calls");
  }
});

test("reports the usage of both requests in a stream under the answer's id", async () => {
  const stream = await client.chat.completions.create({
    ...ask("wrong day"),
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks = await Array.fromAsync(stream);
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 8 } });
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  expect(chunks.every(({ model }) => model === "words")).toBe(true);
  expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
});

test("returns 400 with the path of an invalid schema, before the upstream request", async () => {
  const schema = { type: "object", properties: { a: { type: "nonsense" } } };
  for (const stream of [false, true]) {
    const response = await service.post("/v1/chat/completions", {
      ...ask("When?"),
      stream,
      response_format: { type: "json_schema", json_schema: { name: "x", schema } },
    });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { param: string } };
    expect(error.param).toContain("response_format.json_schema.schema");
  }
  expect(upstream.received).toHaveLength(0);
});

test.each(["silent", "held"])(
  "forwards response_format to a deployment that supports it or does not say (%s)",
  async (model) => {
    const body = ask("fenced", model);
    const { choices } = await client.chat.completions.create(body);
    expect(choices[0]?.message.content).toContain("```");
    expect(sent(0).response_format).toEqual(JSON.parse(JSON.stringify(body.response_format)));
  },
);

test.each<[what: string, change: object, param: string]>([
  ["tools", { tools: [{ type: "function", function: { name: "f" } }] }, "tools"],
  ["log probabilities", { logprobs: true }, "logprobs"],
  [
    "images",
    {
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] }],
    },
    "messages[0].content[0].type",
  ],
])(
  "rejects %s for a deployment configured without them, and forwards them when it is not configured",
  async (_what, change, param) => {
    const body = { messages: [{ role: "user", content: "Hi" }], ...change };
    const refused = await service.post("/v1/chat/completions", { model: "words", ...body });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { param, code: "unsupported_value" } });
    expect(upstream.received).toHaveLength(0);
    await service.post("/v1/chat/completions", { model: "silent", ...body });
    expect(sent(0)).toMatchObject(change);
  },
);

test("lists the configured capabilities of deployments, and null for unknown ones", async () => {
  const response = await service.fetch("/v1/models?include_metadata=true");
  const { data } = (await response.json()) as { data: { id: string; metadata: { capabilities: object } }[] };
  const of = (model: string) => data.find(({ id }) => id === model)?.metadata.capabilities;
  expect(of("words")).toMatchObject({ tools: false, json_schema: true, vision: false, logprobs: false });
  expect(of("held")).toMatchObject({ tools: null, json_schema: true, vision: null, reasoning: null });
  expect(of("silent")).toMatchObject({ json_schema: null, max_choices: null });
});

test.each([
  ["a bare schema", { type: "json_schema", json_schema: SCHEMA }, { name: "answer", schema: SCHEMA }],
  ["llama-server's form", { type: "json_schema", schema: SCHEMA }, { name: "answer", schema: SCHEMA }],
  [
    "a flat envelope",
    { type: "json_schema", name: "fair", strict: true, schema: SCHEMA },
    { name: "fair", strict: true, schema: SCHEMA },
  ],
  ["a schema of json_object", { type: "json_object", schema: SCHEMA }, { name: "answer", schema: SCHEMA }],
  [
    "an envelope without a name",
    { type: "json_schema", json_schema: { schema: SCHEMA } },
    { name: "answer", schema: SCHEMA },
  ],
  [
    "OpenAI's form",
    { type: "json_schema", json_schema: { name: "fair", strict: false, schema: SCHEMA, own: 1 } },
    { name: "fair", strict: false, schema: SCHEMA, own: 1 },
  ],
])("forwards %s in OpenAI's form", async (_form, response_format, json_schema) => {
  for (const stream of [false, true]) {
    upstream.received.length = 0;
    const response = await service.post("/v1/chat/completions", {
      ...ask("When is the fair?", "silent"),
      response_format,
      stream,
    });
    await response.text();
    expect(response.status).toBe(200);
    expect(sent(0).response_format).toEqual({ type: "json_schema", json_schema });
  }
});

test.each([{ type: "text" }, { type: "json_object" }])("forwards %j as it is", async (response_format) => {
  await (await service.post("/v1/chat/completions", { ...ask("When is the fair?", "silent"), response_format })).text();
  expect(sent(0).response_format).toEqual(response_format);
});

test("honors vLLM's structured_outputs: validates here, and forwards it where the upstream enforces schemas", async () => {
  const { response_format: _format, ...plain } = ask("wrong day");
  for (const json of [SCHEMA, JSON.stringify(SCHEMA)]) {
    upstream.received.length = 0;
    const response = await service.post("/v1/chat/completions", { ...plain, structured_outputs: { json } });
    expect(response.status).toBe(200);
    // The first answer does not match the schema.
    expect(upstream.received).toHaveLength(2);
  }
  upstream.received.length = 0;
  const fields = { ...plain, model: "silent", structured_outputs: { choice: ["a", "b"] } };
  await (await service.post("/v1/chat/completions", fields)).text();
  expect(sent(0).structured_outputs).toEqual({ choice: ["a", "b"] });
});
