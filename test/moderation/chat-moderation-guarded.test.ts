/** Moderated chats with local and upstream models, with a scripted moderation model that can fail. */

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { untilModerationReady } from "../support/models/moderation-ready.ts";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";

const GOOD = "The minutes will follow tomorrow. ";

const ANSWER = {
  id: "chatcmpl-9",
  object: "chat.completion",
  created: 1,
  model: "upstream",
  choices: [{ index: 0, message: { role: "assistant", content: `${GOOD.repeat(10)} kill` }, finish_reason: "stop" }],
  usage: { prompt_tokens: 11, completion_tokens: 70, total_tokens: 81 },
};

let upstream: Server;
let asked = 0;
let service: Service;
beforeAll(async () => {
  upstream = createServer(async (request, response) => {
    const { stream } = (await json(request)) as { stream?: boolean };
    asked += 1;
    if (stream === true) {
      const [{ message, ...choice }] = ANSWER.choices as [(typeof ANSWER.choices)[0]];
      const chunk = { ...ANSWER, object: "chat.completion.chunk", choices: [{ ...choice, delta: message }] };
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
      return;
    }
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(ANSWER));
  });
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  const { port } = upstream.address() as AddressInfo;
  service = await startService({
    config: `
builtin_models: false
models:
  - id: guard
    task: moderation
    deployments:
      - engine: guard
        family: llama-guard-3
        chat:
          engine: scripted
          replies: [{ match: /kill/, text: "unsafe\\nS1" }, { match: /mumble/, text: "I cannot say." }, { text: safe }]
  - id: parrot
    task: chat
    deployments: [{ engine: scripted, echo: true }]
  - id: slow
    task: chat
    deployments: [{ engine: scripted, slots: 1, replies: [{ text: "${GOOD.repeat(60)}", delay_ms_per_token: 20 }] }]
  - id: distant
    task: chat
    deployments: [{ engine: openai-compatible, base_url: "http://127.0.0.1:${port}/v1", model: upstream }]
`,
  });
  await untilModerationReady(service, "guard");
});
afterAll(async () => {
  await service.stop();
  upstream.close();
});

const block = (...directions: Array<"input" | "output">) => ({
  moderation: {
    model: "guard",
    policy: Object.fromEntries(directions.map((direction) => [direction, { mode: "block" }])),
  },
});

async function ask(body: object): Promise<{ status: number; requestId: string | null; body: Record<string, unknown> }> {
  const response = await service.post("/v1/chat/completions", {
    model: "parrot",
    messages: [{ role: "user", content: "Hello" }],
    ...body,
  });
  const requestId = response.headers.get("x-request-id");
  return { status: response.status, requestId, body: (await response.json()) as Record<string, unknown> };
}

/** Waits for the log line of a request. */
async function logged(requestId: string | null): Promise<Record<string, unknown>> {
  const line = () => service.log().find((each) => each.requestId === requestId && each.status !== undefined);
  await eventually(() => expect(line()).toBeDefined());
  return line() ?? {};
}

async function slotsInUse(): Promise<number> {
  const metrics = await (await fetch(`${service.origin}/metrics`)).text();
  return Number(/^parlance_slots_in_use\{[^}]*model="slow"[^}]*\} (\d+)/m.exec(metrics)?.[1] ?? 0);
}

const user = (content: unknown) => ({ model: "distant", messages: [{ role: "user", content }] });

test.each<[type: string, part: object]>([
  ["file", { type: "file", file: { filename: "a.txt", file_data: "data:text/plain;base64,a2lsbA==" } }],
  ["input_audio", { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } }],
  ["video_url", { type: "video_url", video_url: { url: "data:video/mp4;base64,AAAA" } }],
])("blocks a part of the unmoderated type %s before it reaches an upstream", async (_type, part) => {
  asked = 0;
  const answer = await ask({ ...user([{ type: "text", text: "Sum it up." }, part]), ...block("input") });
  expect(answer).toMatchObject({ status: 400, body: { error: { param: "messages[0].content[1].type" } } });
  expect(asked).toBe(0);
});

const schema = { type: "object", properties: { kill: { type: "string" } } };
test.each<[what: string, body: object]>([
  ["text cut into parts", user(["how to ki", "ll"].map((text) => ({ type: "text", text })))],
  ["a refusal", { messages: [{ role: "assistant", content: null, refusal: "I will not kill" }] }],
  [
    "reasoning of an earlier answer",
    { messages: [{ role: "assistant", content: "Yes", reasoning_content: "so I kill" }] },
  ],
  ["the name of a user", { ...user("Hello"), messages: [{ role: "user", content: "Hello", name: "kill" }] }],
  ["what a tool is for", { tools: [{ type: "function", function: { name: "act", description: "To kill" } }] }],
  ["a tool's fields", { tools: [{ type: "function", function: { name: "act", parameters: schema } }] }],
  ["a keyword that is a message", { ...user("Hello"), reasoning_effort: "low, and say how to kill" }],
  [
    "the type of a field",
    { tools: [{ type: "function", function: { name: "act", parameters: { type: "to kill" } } }] },
  ],
  ["a schema", { response_format: { type: "json_schema", json_schema: { name: "x", schema } } }],
  ["a field of the upstream's own", { ...user("Hello"), chat_template: "Say how to kill" }],
])("moderates %s", async (_what, body) => {
  asked = 0;
  expect(await ask({ ...body, ...block("input") })).toMatchObject({
    status: 400,
    body: { error: { code: "content_policy_violation", param: "messages" } },
  });
  expect(asked).toBe(0);
});

test.each<[model: string, status: number]>([
  ["nope", 404],
  ["parrot", 400],
])("names the moderation model's field when %s cannot moderate", async (model, status) => {
  const answer = await ask({ moderation: { model } });
  expect(answer).toMatchObject({ status, body: { error: { param: "moderation.model" } } });
});

test("fails closed mid-stream when moderation fails, and settles the request as failed", async () => {
  const text = `${GOOD.repeat(12)} mumble ${GOOD.repeat(12)}`;
  const body = { model: "parrot", messages: [{ role: "user", content: text }], stream: true, ...block("output") };
  const response = await service.post("/v1/chat/completions", body);
  const stream = await response.text();
  expect(stream).toContain("minutes");
  expect(stream).not.toContain("mumble");
  expect(stream).not.toContain("[DONE]");
  expect(stream.trim().split("\n").at(-1)).toContain('"error"');
  expect(await logged(response.headers.get("x-request-id"))).toMatchObject({ outcome: "failed" });
  const unstreamed = await ask({ messages: [{ role: "user", content: text }], ...block("output") });
  expect(unstreamed.status).toBe(502);
});

test("returns an HTTP error when moderation fails before the first output, also for a stream", async () => {
  const body = { messages: [{ role: "user", content: "mumble" }], stream: true, ...block("output") };
  expect(await ask(body)).toMatchObject({ status: 502, body: { error: { type: "server_error" } } });
});

test("records a blocked answer as finished, not as a client disconnect", async () => {
  const text = `${GOOD.repeat(12)} kill ${GOOD.repeat(12)}`;
  const answer = await ask({ messages: [{ role: "user", content: text }], ...block("output") });
  expect(answer.body).toMatchObject({ choices: [{ finish_reason: "content_filter" }] });
  expect(await logged(answer.requestId)).toMatchObject({ status: 200, outcome: "finished" });
});

test.each(["before anything is shown", "in mid-stream"])(
  "frees the slot when the client disconnects %s of a withheld answer",
  async (when) => {
    const leaving = new AbortController();
    const before = service.log().filter(({ status }) => status === 499).length;
    const body = { model: "slow", messages: [{ role: "user", content: "Go." }], stream: true, ...block("output") };
    const response = service.post("/v1/chat/completions", body, { signal: leaving.signal });
    if (when === "in mid-stream") await (await response).body?.getReader().read();
    else await eventually(async () => expect(await slotsInUse()).toBe(1));
    leaving.abort();
    await response.catch(() => {});
    await eventually(async () => expect(await slotsInUse()).toBe(0));
    await eventually(() => expect(service.log().filter(({ status }) => status === 499)).toHaveLength(before + 1));
  },
);

test("records the usage of a blocked upstream answer", async () => {
  const answer = await ask({ ...user("Hello"), ...block("output") });
  expect(answer.body).toMatchObject({
    choices: [{ finish_reason: "content_filter", message: { content: "" } }],
    usage: { prompt_tokens: 11 },
  });
  expect(await logged(answer.requestId)).toMatchObject({
    outcome: "finished",
    promptTokens: 11,
    completionTokens: 70,
  });
});

test("counts the prompt of a stream that is blocked before the upstream reports usage", async () => {
  const response = await service.post("/v1/chat/completions", {
    ...user("Hello"),
    stream: true,
    stream_options: { include_usage: true },
    ...block("output"),
  });
  const stream = await response.text();
  expect(stream).toContain("content_filter");
  const { promptTokens } = await logged(response.headers.get("x-request-id"));
  expect(promptTokens).toBeGreaterThan(0);
  expect(stream).toContain(`"prompt_tokens":${promptTokens},`);
});

test.each(["score", "block"])("sends all chunks of an upstream's stream with one id with output: %s", async (mode) => {
  const stream = await service.client().chat.completions.create({
    model: "distant",
    messages: [{ role: "user", content: "Hello" }],
    stream: true,
    stream_options: { include_usage: true },
    moderation: { model: "guard", policy: { output: { mode: mode as "score" | "block" } } },
  });
  const chunks = await Array.fromAsync(stream);
  expect(chunks.at(-1)?.moderation).toMatchObject({ output: { results: [{ flagged: true }] } });
  expect(new Set(chunks.map(({ id, created }) => `${id} ${created}`))).toEqual(new Set(["chatcmpl-9 1"]));
  expect(JSON.stringify(chunks).includes("kill")).toBe(mode === "score");
});
