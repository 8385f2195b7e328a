/** The tool `code_interpreter` and containers, with the official client and real Python. */

import Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import { toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SANDBOX_SETTING } from "../support/service/os-sandbox.ts";
import { type Service, startService } from "../support/service/service.ts";
import { startServiceProcess } from "../support/service/service-process.ts";
import { administrator } from "../support/service/team-services.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const call = (code: string) => `{ name: code_interpreter, arguments: { code: ${JSON.stringify(code)} } }`;
const CONFIG = `
builtin_models: false
code_interpreter: { sandbox: ${SANDBOX_SETTING}, max_sessions: 1, max_containers: 3, timeout_seconds: 5, max_file_megabytes: 1, price_per_session: "0.03" }
models:
  - id: agent
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true }
        context_window: 100000
        replies:
          - { match_tool: "/ZeroDivisionError/", text: "It fails." }
          - { match_tool: "/stopped/", text: "It took too long." }
          - { match_tool: "/x = 42/", text: "x is 42." }
          - { match_tool: "/picture.png/", text: "Here is picture.png for you." }
          - { match_tool: "/a,b/", text: "The file has a,b." }
          - { match_tool: "/19.txt and 30 more. Name/", text: "There are many." }
          - { match: "many", tool_calls: [${call("for i in range(50): open(f'{i:02}.txt', 'w').close()")}] }
          - { match: "divide", tool_calls: [${call("1 / 0")}] }
          - { match: "loop", tool_calls: [${call("while True: pass")}] }
          - { match: "set", tool_calls: [${call("x = 42\nf'x = {x}'")}] }
          - { match: "again", tool_calls: [${call("f'x = {x}'")}] }
          - { match: "read", tool_calls: [${call("open('/mnt/data/table.csv').read()")}] }
          - { match: "draw", tool_calls: [${call(`import base64\nopen('picture.png', 'wb').write(base64.b64decode('${PIXEL}'))`)}] }
          - { text: "No tool." }
`;

let upstream: Service;
let service: Service;
let client: OpenAI;
beforeAll(async () => {
  upstream = await startService({ config: CONFIG });
  const far = deploymentAt(upstream, "agent", { abilities: { tools: true } });
  service = await startService({ config: `${CONFIG}  - { id: far, task: chat, deployments: [${far}] }\n` });
  client = service.client({ maxRetries: 0 });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.stop();
});

test("is not there without the sandbox of the operating system, unless the operator says so", async () => {
  const withoutPrograms = { PATH: "/nowhere" };
  const config = "builtin_models: false\ncode_interpreter: {}\n";
  await expect(startServiceProcess({ config, environment: withoutPrograms })).rejects.toThrow(
    /ended with 1:.*no sandbox of the operating system.*code_interpreter\.sandbox to process/s,
  );
  const unsafe = config.replace("{}", "{ sandbox: process }");
  const other = await startService({ config: unsafe, environment: withoutPrograms });
  await other.stop();
});

type CodeCall = OpenAI.Responses.ResponseCodeInterpreterToolCall;
const ask = (
  input: string,
  container: OpenAI.Responses.Tool.CodeInterpreter["container"] = { type: "auto" },
  fields = {},
) =>
  client.responses.create({
    ...{ model: "agent", input, include: ["code_interpreter_call.outputs"] },
    tools: [{ type: "code_interpreter", container }],
    ...fields,
  }) as Promise<OpenAI.Responses.Response>;
const callOf = ({ output }: OpenAI.Responses.Response) => output[0] as CodeCall;

test("runs code, and goes on with its variables in the same container", async () => {
  const first = await ask("set x");
  expect(callOf(first)).toMatchObject({
    type: "code_interpreter_call",
    status: "completed",
    code: "x = 42\nf'x = {x}'",
  });
  expect(callOf(first).outputs).toEqual([{ type: "logs", logs: "'x = 42'\n" }]);
  expect(first.output_text).toBe("x is 42.");
  const second = await ask("again", undefined, { previous_response_id: first.id, include: [] });
  expect(callOf(second)).toMatchObject({ container_id: callOf(first).container_id, outputs: null });
  expect(second.output_text).toBe("x is 42.");
  expect((await ask("many", callOf(first).container_id)).output_text).toBe("There are many.");
  await client.containers.delete(callOf(first).container_id);
});

test("streams OpenAI's events, and shows exceptions to the model", async () => {
  const { id } = await client.containers.create({ name: "events" });
  const stream = await client.responses.create({
    ...{ model: "agent", input: "divide", stream: true, tools: [{ type: "code_interpreter", container: id }] },
  });
  const events = await Array.fromAsync(stream);
  expect(events.map(({ type }) => type).filter((type) => type.includes("code_interpreter"))).toEqual([
    "response.code_interpreter_call.in_progress",
    "response.code_interpreter_call_code.delta",
    "response.code_interpreter_call_code.done",
    "response.code_interpreter_call.interpreting",
    "response.code_interpreter_call.completed",
  ]);
  expect(events.at(-1)).toMatchObject({ response: { output: [{ status: "completed" }, { type: "message" }] } });
  await client.containers.delete(id);
});

test("gives files to code and to the user", async () => {
  const stored = await client.files.create({
    purpose: "user_data",
    file: await toFile(Buffer.from("a,b"), "table.csv"),
  });
  const container = await client.containers.create({
    ...{ name: "files", file_ids: [stored.id], expires_after: { anchor: "last_active_at", minutes: 5 } },
  });
  expect(container).toMatchObject({ object: "container", status: "running", expires_after: { minutes: 5 } });
  expect((await ask("read", container.id)).output_text).toBe("The file has a,b.");
  const drawn = await ask("draw", container.id);
  expect(callOf(drawn).outputs).toContainEqual({ type: "image", url: `data:image/png;base64,${PIXEL}` });
  const [message] = drawn.output.filter(({ type }) => type === "message");
  expect(message).toMatchObject({
    content: [
      { annotations: [{ type: "container_file_citation", container_id: container.id, filename: "picture.png" }] },
    ],
  });
  const uploaded = await client.containers.files.create(container.id, {
    file: await toFile(Buffer.from("hi"), "note.txt"),
  });
  expect(uploaded).toMatchObject({ object: "container.file", path: "/mnt/data/note.txt", source: "user", bytes: 2 });
  const files = await Array.fromAsync(client.containers.files.list(container.id, { order: "asc", limit: 2 }));
  expect(files.map(({ path, source }) => [path, source])).toEqual([
    ["/mnt/data/table.csv", "user"],
    ["/mnt/data/picture.png", "assistant"],
    ["/mnt/data/note.txt", "user"],
  ]);
  const [, picture] = files as [unknown, (typeof files)[number]];
  const content = await client.containers.files.content.retrieve(picture.id, { container_id: container.id });
  expect(Buffer.from(await content.arrayBuffer()).toString("base64")).toBe(PIXEL);
  await client.containers.files.delete(uploaded.id, { container_id: container.id });
  await expect(client.containers.files.retrieve(uploaded.id, { container_id: container.id })).rejects.toMatchObject({
    status: 404,
  });
  const large = client.containers.files.create(container.id, {
    file: await toFile(Buffer.alloc(1_100_000), "big.bin"),
  });
  await expect(large).rejects.toMatchObject({ status: 413 });
  await client.containers.delete(container.id);
  await expect(client.containers.retrieve(container.id)).rejects.toMatchObject({ status: 404 });
});

test("gives files of the project to containers of upstream models, and to containers by a body of JSON", async () => {
  const stored = await client.files.create({
    file: await toFile(Buffer.from("a,b\n1,2\n"), "table.csv"),
    purpose: "user_data",
  });
  const response = await client.responses.create({
    ...{
      model: "far",
      input: "read",
      tools: [{ type: "code_interpreter", container: { type: "auto", file_ids: [stored.id] } }],
    },
  });
  expect(response.output_text).toBe("The file has a,b.");
  const container = response.output.find(({ type }) => type === "code_interpreter_call") as CodeCall;
  await client.containers.delete(container.container_id);
  const { id } = await client.containers.create({ name: "by id" });
  const copied = await client.containers.files.create(id, { file_id: stored.id });
  expect(copied).toMatchObject({ path: "/mnt/data/table.csv", bytes: 8 });
  const json = await service.post(`/v1/containers/${id}/files`, { file_id: stored.id });
  expect(json.status).toBe(200);
  expect((await service.post(`/v1/containers/${id}/files`, {})).status).toBe(400);
  await client.containers.delete(id);
});

test("stops endless code, and lets others wait for the only process", async () => {
  const { id } = await client.containers.create({ name: "loop" });
  const slow = service.fetch("/v1/responses", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "agent", input: "loop", tools: [{ type: "code_interpreter", container: id }] }),
  });
  const other = ask("set x");
  expect(((await (await slow).json()) as OpenAI.Responses.Response).output[0]).toMatchObject({ status: "failed" });
  expect((await other).output_text).toBe("x is 42.");
});

test("bounds containers of a project, hides them from others, and bills them", async () => {
  const { data } = await client.containers.list();
  const rest = 3 - data.length;
  for (let index = 0; index < rest; index++) await client.containers.create({ name: `c${index}` });
  await expect(client.containers.create({ name: "more" })).rejects.toMatchObject({ status: 429 });
  const projects = administrator(service).projects;
  const { id: project } = await projects.create({ name: "Other" });
  const account = await projects.serviceAccounts.create(project, { name: "other" });
  const stranger = service.client({ apiKey: account.api_key?.value ?? "", maxRetries: 0 });
  const [first] = (await client.containers.list()).data;
  await expect(stranger.containers.retrieve(first?.id ?? "")).rejects.toMatchObject({ status: 404 });
  expect((await stranger.containers.list()).data).toEqual([]);
  // Neither of those that are refused has a price.
  const missing = stranger.containers.create({ name: "missing", file_ids: ["file-missing"] });
  await expect(missing).rejects.toMatchObject({ status: 404 });
  for (let index = 0; index < 3; index++) await stranger.containers.create({ name: `s${index}` });
  await expect(stranger.containers.create({ name: "more" })).rejects.toMatchObject({ status: 429 });
  const start = Math.floor(Date.now() / 1000) - 86_400;
  const costs = async () => {
    const url = `${service.baseUrl}/organization/costs?start_time=${start}&line_items=code_interpreter/session&project_ids=${project}`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${service.adminKey}` } });
    const { data: buckets } = (await answer.json()) as { data: { results: { amount: { value: number } }[] }[] };
    const sum = buckets.flatMap(({ results }) => results).reduce((total, { amount }) => total + amount.value, 0);
    return Math.round(sum * 100);
  };
  await expect.poll(costs).toBeGreaterThanOrEqual(9);
  expect(await costs()).toBe(9);
});

test.each([
  [{ container: "cntr_none" }, 404, "There is no container"],
  [{ container: { type: "auto", network_policy: { type: "allowlist" } } }, 400, "network_policy"],
  [{}, 400, "container"],
])("refuses %j", async (tool, status, message) => {
  const body = { model: "agent", input: "set x", tools: [{ type: "code_interpreter", ...tool }] };
  const answer = await service.post("/v1/responses", body);
  expect(answer.status).toBe(status);
  expect(await answer.text()).toContain(message);
});

test.each([false, true])("runs Anthropic's code_execution in Messages, streamed: %s", async (isStreamed) => {
  const client = service.client();
  for await (const { id } of client.containers.list()) await client.containers.delete(id);
  const { messages } = new Anthropic({ baseURL: service.origin, apiKey: service.apiKey, maxRetries: 0 });
  const body = {
    ...{ model: "agent", max_tokens: 100, messages: [{ role: "user" as const, content: "set" }] },
    tools: [{ type: "code_execution_20250522", name: "code_execution" }] as never,
  };
  const { content } = isStreamed ? await messages.stream(body).finalMessage() : await messages.create(body);
  expect(content).toMatchObject([
    { type: "server_tool_use", name: "code_execution", input: { code: expect.stringContaining("x = 42") } },
    { type: "code_execution_tool_result", content: { stdout: expect.stringContaining("x = 42"), return_code: 0 } },
    { type: "text", text: "x is 42." },
  ]);
  // No later request could name it: a client would reach the limit of containers with a few requests.
  await expect.poll(async () => (await client.containers.list()).data).toEqual([]);
});

test("a client that leaves takes the container of its Messages along", async () => {
  const client = service.client();
  for await (const { id } of client.containers.list()) await client.containers.delete(id);
  const { messages } = new Anthropic({ baseURL: service.origin, apiKey: service.apiKey, maxRetries: 0 });
  const stream = messages.stream({
    ...{ model: "agent", max_tokens: 100, messages: [{ role: "user" as const, content: "set" }] },
    tools: [{ type: "code_execution_20250522", name: "code_execution" }] as never,
  });
  for await (const { type } of stream) if (type === "content_block_start") break;
  stream.abort();
  await expect.poll(async () => (await client.containers.list()).data).toEqual([]);
});
