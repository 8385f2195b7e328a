/** Requests for which something is read before their run count once, whether they succeed or fail. */

import { toFile } from "openai";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startMcpServer } from "../support/mcp/mcp-server.ts";
import { type InProcessService, type ServiceClient, startService } from "../support/service/service.ts";
import { PIXEL } from "../support/upstreams/image-upstream.ts";

const ELSEWHERE = "https://127.0.0.1:9/a.png";
const PREDICATES = ["Is it late?", "Is it a bird?"].map((instructions) => ({ type: "predicate", instructions }));

const MODELS = `
builtin_models: false
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true, abilities: { tools: true } }] }
  - { id: sees, task: chat, deployments: [{ engine: scripted, echo: true, abilities: { vision: true } }] }
  - { id: decides, task: chat, deployments: [{ engine: scripted, abilities: { logprobs: true }, replies: [{ text: Yes No }] }] }
  - { id: painter, task: image, deployments: [{ engine: scripted, echo: true }] }
  - id: judge
    task: moderation
    deployments: [{ engine: guard, family: llama-guard-4, chat: { engine: scripted, replies: [{ text: safe }] } }]
`;

let service: InProcessService;
let limited: InProcessService | undefined;
const files = { text: "", image: "" };
beforeAll(async () => {
  service = await startService({ config: `${MODELS}limits: { organization: { requests_per_minute: 1000 } }` });
  const client = service.client();
  const upload = async (name: string, content: Buffer) =>
    (await client.files.create({ file: await toFile(content, name), purpose: "user_data" })).id;
  files.text = await upload("a.txt", Buffer.from("Polly."));
  files.image = await upload("a.png", Buffer.from(PIXEL, "base64"));
});
afterEach(async () => {
  await limited?.stop();
  limited = undefined;
});
afterAll(() => service?.stop());

async function start(limits: string): Promise<ServiceClient> {
  limited = await startService({ config: `${MODELS}limits: ${limits}\n` });
  return limited;
}

/** Requests that count while `work` runs. */
async function countedIn<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
  const remaining = async () =>
    Number((await service.fetch("/v1/models")).headers.get("x-ratelimit-remaining-requests"));
  const before = await remaining();
  const result = await work();
  return [result, before - (await remaining()) - 1];
}

const messageOf = (part: object) => [{ role: "user", content: [part] }];
const inputFile = () => messageOf({ type: "input_file", file_id: files.text });

test.each<[path: string, body: () => object, status: number]>([
  [
    "/v1/chat/completions",
    () => ({ model: "parrot", messages: messageOf({ type: "file", file: { file_id: files.text } }) }),
    200,
  ],
  [
    "/v1/messages",
    () => ({
      ...{ model: "parrot", max_tokens: 10 },
      messages: messageOf({ type: "document", source: { type: "file", file_id: files.text } }),
    }),
    200,
  ],
  ["/v1/responses", () => ({ model: "parrot", input: inputFile() }), 200],
  ["/v1/responses", () => ({ model: "parrot", input: inputFile(), background: true }), 200],
  ["/v1/responses/compact", () => ({ model: "parrot", input: inputFile() }), 200],
  ["/v1/responses/input_tokens", () => ({ model: "parrot", input: inputFile() }), 200],
  ["/v1/decisions", () => ({ model: "decides", input: inputFile(), questions: PREDICATES }), 200],
  ["/v1/images/edits", () => ({ model: "painter", prompt: "a moon", images: [{ file_id: files.image }] }), 200],
  [
    "/v1/chat/completions",
    () => ({ model: "sees", messages: messageOf({ type: "image_url", image_url: { url: ELSEWHERE } }) }),
    400,
  ],
  ["/v1/images/edits", () => ({ model: "painter", prompt: "a moon", images: [{ image_url: ELSEWHERE }] }), 400],
  ["/v1/moderations", () => ({ model: "judge", input: [{ type: "image_url", image_url: { url: ELSEWHERE } }] }), 400],
])("counts a request with content to %s once", async (path, body, status) => {
  const [answer, counted] = await countedIn(() => service.post(path, body()));
  expect([answer.status, counted]).toEqual([status, 1]);
});

test("counts nothing for a request that fails before anything is read", async () => {
  const body = { model: "parrot", messages: [{ role: "user", content: "Hm." }], temperature: "warm" };
  const [answer, counted] = await countedIn(() => service.post("/v1/chat/completions", body));
  expect([answer.status, counted]).toEqual([400, 0]);
});

const fileRequest = (fields: object) => ({
  model: "parrot",
  input: [{ role: "user", content: [{ type: "input_file", filename: "a.pdf", ...fields }] }],
});

test("counts a request before it reads what that refers to or contains, also when it fails", async () => {
  const running = await start("{ organization: { requests_per_minute: 3 } }");
  const elsewhere = fileRequest({ file_url: "http://127.0.0.1:9/a.pdf" });
  const inline = fileRequest({ file_data: "data:application/pdf;base64,AAAA" });
  const statusOf = async (body: object, path = "/v1/responses") => (await running.post(path, body)).status;
  const statuses = await Promise.all(Array.from({ length: 5 }, () => statusOf(elsewhere)));
  expect(statuses.sort()).toEqual([400, 400, 400, 429, 429]);
  const refused = await running.post("/v1/responses", elsewhere);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(refused.headers.get("x-ratelimit-remaining-requests")).toBe("0");
  expect(await statusOf(elsewhere, "/v1/responses/input_tokens")).toBe(429);
  expect(await statusOf(inline)).toBe(429);
});

test("counts content within the request once, whether a model answers or another limit refuses", async () => {
  const running = await start("{ organization: { requests_per_minute: 4, tokens_per_minute: 1000 } }");
  const text = fileRequest({ file_data: `data:text/plain;base64,${btoa("Polly.")}`, filename: "a.txt" });
  const send = async (given: object = {}) =>
    running.post("/v1/responses", { ...text, max_output_tokens: 10, ...given });
  const answer = await send();
  expect([answer.status, answer.headers.get("x-ratelimit-remaining-requests")]).toEqual([200, "3"]);
  expect(Number(answer.headers.get("x-ratelimit-remaining-tokens"))).toBeLessThan(1000);
  const tooLarge = await send({ max_output_tokens: 1001 });
  expect([tooLarge.status, tooLarge.headers.get("x-should-retry")]).toEqual([429, "false"]);
  expect((await send()).headers.get("x-ratelimit-remaining-requests")).toBe("1");
  // Broken documents are read, too.
  expect(
    (await running.post("/v1/responses", fileRequest({ file_data: "data:application/pdf;base64,AAAA" }))).status,
  ).toBe(400);
  expect(await (await send()).json()).toMatchObject({ error: { type: "requests", code: "rate_limit_exceeded" } });
});

test("asks no server for its tools for a request over the limit", async () => {
  const mcp = await startMcpServer("stateless");
  try {
    const servers = `mcp_servers: [{ name: crm, url: "${mcp.url}" }]`;
    const running = await start(`{ organization: { requests_per_minute: 1 } }\n${servers}`);
    expect((await running.post("/v1/responses", { model: "parrot", input: "Polly." })).status).toBe(200);
    const tools = [{ type: "mcp", server_label: "crm" }];
    const refused = await running.post("/v1/responses", { model: "parrot", input: "Polly.", tools });
    expect(refused.status).toBe(429);
    expect(mcp.requests).toEqual([]);
  } finally {
    await mcp.close();
  }
});

test("counts a request once before its tools are listed, also when it fails then", async () => {
  const mcp = await startMcpServer("stateless");
  try {
    const servers = `mcp_servers: [{ name: crm, url: "${mcp.url}" }]`;
    const running = await start(`{ organization: { requests_per_minute: 3 } }\n${servers}`);
    const tools = [{ type: "mcp", server_label: "crm" }];
    const ask = (input: unknown) => running.post("/v1/responses", { model: "parrot", input, tools });
    const answer = await ask("Polly.");
    expect([answer.status, answer.headers.get("x-ratelimit-remaining-requests")]).toEqual([200, "2"]);
    const approved = [
      { type: "mcp_approval_request", id: "mcpr_1", server_label: "crm", name: "nope", arguments: "{}" },
      { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true },
    ];
    const statuses = await Promise.all(Array.from({ length: 4 }, async () => (await ask(approved)).status));
    expect(statuses.sort()).toEqual([400, 400, 429, 429]);
    expect((await ask("Polly.")).status).toBe(429);
  } finally {
    await mcp.close();
  }
});
