/** Stored prompts through the official client, on both databases: rendering, labels, usage, permissions. */

import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../support/databases/databases.ts";
import { eventually } from "../support/service/eventually.ts";
import { runParlance } from "../support/service/run-parlance.ts";
import { type Service, startService } from "../support/service/service.ts";

const databases = useDatabases();

interface SentBody {
  model: string;
  messages?: { role: string; content: unknown }[];
  [field: string]: unknown;
}

/** Upstream that notes what it gets and answers with one word. */
let upstream: Server;
const sent: SentBody[] = [];
beforeAll(async () => {
  upstream = createServer(async (request, response) => {
    const body = (await json(request)) as SentBody;
    sent.push(body);
    const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
    const common = { id: "chatcmpl-1", created: 1, model: body.model };
    const answer = { index: 0, finish_reason: "stop", logprobs: null };
    const said = { role: "assistant", content: "Done" };
    if (body.stream === true) {
      response.setHeader("content-type", "text/event-stream");
      const chunk = { ...common, object: "chat.completion.chunk", choices: [{ ...answer, delta: said }] };
      for (const frame of [chunk, { ...chunk, choices: [], usage }])
        response.write(`data: ${JSON.stringify(frame)}\n\n`);
      response.end("data: [DONE]\n\n");
      return;
    }
    response.setHeader("content-type", "application/json");
    const choices = [{ ...answer, message: said }];
    response.end(JSON.stringify({ ...common, object: "chat.completion", choices, usage }));
  });
  await new Promise<void>((listening) => void upstream.listen(0, "127.0.0.1", listening));
});
afterAll(() => upstream.close());

const configOf = (port: number) => `
builtin_models: false
models:
  - id: writer
    task: chat
    price: { prompt: "0.001", completion: "0.01" }
    deployments:
      - { engine: openai-compatible, base_url: "http://127.0.0.1:${port}/v1", abilities: { tools: true, vision: true } }
`;

const CONTENT = {
  model: "writer",
  messages: [
    { role: "developer", content: "Write in {{ language }}, at most {{words}} words." },
    { role: "user", content: "About {{topic}}:" },
  ],
  variables: [
    { name: "language", type: "enum", options: ["English", "Polish"], default: "English" },
    { name: "words", type: "number" },
    { name: "topic", type: "text" },
  ],
  temperature: 0.2,
  max_output_tokens: 50,
  format: { type: "json_schema", name: "note", schema: { type: "object", properties: {} } },
};

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  let service: Service;
  let client: OpenAI;
  beforeAll(async () => {
    const { url } = await databases.create(kind);
    const environment = url && { DATABASE_URL: url.reveal(), PARLANCE_ENCRYPTION_KEY: "k".repeat(40) };
    const config = configOf((upstream.address() as AddressInfo).port);
    service = await startService({ config, ...(environment && { environment }) });
    client = service.client({ maxRetries: 0 });
  });
  afterAll(() => service.stop());

  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  async function call(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }> {
    const response = await service.fetch(`/v1/prompts${path}`, {
      method,
      headers: { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  }

  async function create(name: string, content: object = CONTENT): Promise<string> {
    const { status, body } = await call("POST", "", { name, content });
    expect([status, body]).toEqual([200, expect.objectContaining({ object: "prompt", latest_version: 1, labels: {} })]);
    return body.id;
  }

  const lastBody = () => sent.at(-1) as SentBody;

  test("client.responses.create renders the messages in front of the input and takes settings from the prompt", async () => {
    const id = await create("writer");
    const variables = { words: "30", topic: "{{language}} rivers" };
    const response = await client.responses.create({
      prompt: { id, variables },
      input: "The Vistula",
      temperature: 0.7,
    });
    expect(response).toMatchObject({
      output_text: "Done",
      prompt: { id, version: "1", variables },
      temperature: 0.7,
      max_output_tokens: 50,
    });
    expect(lastBody()).toMatchObject({
      model: "writer",
      messages: [
        { content: "Write in English, at most 30 words." },
        { role: "user", content: "About {{language}} rivers:" },
        { role: "user", content: "The Vistula" },
      ],
      temperature: 0.7,
    });
    expect(JSON.stringify(lastBody())).toContain('"json_schema"');
    // Like instructions, the messages are not part of what later responses continue from.
    const next = { previous_response_id: response.id, input: "And the Oder?", model: "writer" };
    await client.responses.create(next);
    expect(lastBody().messages?.map(({ content }) => content)).toEqual(["The Vistula", "Done", "And the Oder?"]);
    const items = await client.responses.inputItems.list(response.id);
    expect(items.data).toHaveLength(1);
    const alone = await client.responses.create({ prompt: { id: "writer", variables: { words: "1", topic: "x" } } });
    expect(alone.output_text).toBe("Done");
    const streamed = await client.responses.create({
      prompt: { id, variables: { words: "1", topic: "x" } },
      stream: true,
    });
    const events = await Array.fromAsync(streamed);
    expect(events.at(-1)).toMatchObject({ type: "response.completed" });
  });

  test("chat completions take a prompt, whose text the messages follow", async () => {
    const id = await create("chat writer");
    const prompt = { id, variables: { words: 5, topic: "sea", language: "Polish" } };
    const body = { prompt, messages: [{ role: "user", content: "Now." }] };
    const answer = await client.chat.completions.create(
      body as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming,
    );
    expect(answer.choices[0]?.message.content).toBe("Done");
    expect(lastBody().messages?.map(({ content }) => content)).toEqual([
      "Write in Polish, at most 5 words.",
      "About sea:",
      "Now.",
    ]);
    expect(lastBody()).toMatchObject({ temperature: 0.2, response_format: { type: "json_schema" } });
    expect(lastBody()).not.toHaveProperty("prompt");
  });

  test("names the variable that is missing, unknown or of another type", async () => {
    const id = await create("typed");
    const failures: [Record<string, unknown>, string, RegExp][] = [
      [{ topic: "x" }, "prompt.variables.words", /missing/],
      [{ topic: "x", words: "many" }, "prompt.variables.words", /number/],
      [{ topic: "x", words: 1, language: "Greek" }, "prompt.variables.language", /one of English, Polish/],
      [{ topic: "x", words: 1, topics: "y" }, "prompt.variables.topics", /language, words, topic/],
    ];
    for (const [variables, param, message] of failures) {
      const failing = client.responses.create({
        prompt: { id, variables: variables as Record<string, string> },
        input: "x",
      });
      await expect(failing).rejects.toMatchObject({ status: 400, param, message: expect.stringMatching(message) });
    }
    const unknown = client.responses.create({ prompt: { id: "none" }, input: "x" });
    await expect(unknown).rejects.toMatchObject({ status: 404, code: "prompt_not_found", param: "prompt.id" });
    const version = client.responses.create({ prompt: { id, version: "9" }, input: "x" });
    await expect(version).rejects.toMatchObject({ status: 404, code: "prompt_version_not_found" });
  });

  test("refuses values that the prompt repeats to more than any context window holds", async () => {
    const messages = [{ role: "user", content: "{{text}}".repeat(1_000) }];
    const id = await create("repeats", { model: "writer", messages });
    const answering = client.responses.create({ prompt: { id, variables: { text: "a".repeat(10_000) } } });
    await expect(answering).rejects.toMatchObject({
      ...{ status: 400, param: "prompt.variables" },
      message: expect.stringContaining("the limit is 8000000"),
    });
  });

  test("inserts images as parts of the message", async () => {
    const id = await create("image", {
      model: "writer",
      messages: [{ role: "user", content: "Describe {{picture}} briefly." }],
      variables: [{ name: "picture", type: "image" }],
    });
    const url =
      "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const picture = { type: "input_image", image_url: url, detail: "low" } as const;
    await client.responses.create({ prompt: { id, variables: { picture } } });
    expect(lastBody().messages?.[0]?.content).toMatchObject([
      { type: "text", text: "Describe " },
      { type: "image_url", image_url: { url } },
      { type: "text", text: " briefly." },
    ]);
  });

  test("moves a label to roll out and to roll back, and sums what each version cost", async () => {
    const id = await create("labelled", { model: "writer", messages: [{ role: "user", content: "One" }] });
    const second = { model: "writer", messages: [{ role: "user", content: "Two" }] };
    const added = await call("POST", `/${id}/versions`, { content: second, note: "Shorter", labels: ["staging"] });
    expect(added.body).toMatchObject({ version: 2, note: "Shorter", labels: ["staging"] });
    const ask = async (version?: string) => {
      await client.responses.create({ prompt: { id, ...(version !== undefined && { version }) } });
      return lastBody().messages?.[0]?.content;
    };
    expect(await ask()).toBe("Two");
    expect((await call("POST", `/${id}/labels/production`, { version: 1 })).body.labels).toEqual({
      production: 1,
      staging: 2,
    });
    expect([await ask(), await ask("staging"), await ask("2"), await ask("1")]).toEqual(["One", "Two", "Two", "One"]);
    await call("POST", `/${id}/labels/production`, { version: 2 });
    expect(await ask()).toBe("Two");
    await call("POST", `/${id}/labels/production`, { version: 1 });
    expect(await ask()).toBe("One");
    expect((await call("DELETE", `/${id}/labels/staging`)).body.labels).toEqual({ production: 1 });
    expect((await call("POST", `/${id}/labels/production`, { version: 3 })).status).toBe(404);
    expect((await call("POST", `/${id}/labels/1`, { version: 1 })).body.error.param).toBe("label");

    // 100 prompt tokens and 10 completion tokens each, at $0.001 and $0.01 each.
    const { body } = await call("GET", `/${id}/usage`);
    expect(body.data).toMatchObject([
      { version: 2, requests: 4, input_tokens: 400, output_tokens: 40 },
      { version: 1, requests: 3, input_tokens: 300, output_tokens: 30 },
    ]);
    expect(body.data).toMatchObject([{ ratings: 0, mean_score: null }, { ratings: 0 }]);
    for (const { cost_usd: cost, requests } of body.data) expect(cost).toBeCloseTo(requests * 0.2, 9);
    const start = Math.floor(Date.now() / 1000) - 86_400;
    const costs = await service.fetch(`/v1/organization/costs?start_time=${start}&group_by=prompt&prompts=${id}@2`, {
      headers: { authorization: `Bearer ${service.adminKey}` },
    });
    const { data } = (await costs.json()) as { data: { results: Record<string, unknown>[] }[] };
    expect(data.flatMap(({ results }) => results)).toMatchObject([{ x_prompt: `${id}@2` }]);
    const events = await service.fetch("/v1/organization/audit_logs?event_types=prompt.label.updated", {
      headers: { authorization: `Bearer ${service.adminKey}` },
    });
    const { data: log } = (await events.json()) as { data: Record<string, unknown>[] };
    expect(log[1]).toMatchObject({
      "prompt.label.updated": { id, changes_requested: { label: "production", version: 1, previous_version: 2 } },
    });
  });

  test("writes nothing for a change that changes nothing", async () => {
    const id = await create("unchanged", { model: "writer", messages: [{ role: "user", content: "One" }] });
    await call("POST", `/${id}`, { description: "As it is" });
    const { body: prompt } = await call("POST", `/${id}/labels/production`, { version: 1 });
    const changes: [path: string, body: object][] = [
      ["", {}],
      ["", { name: "unchanged" }],
      ["", { description: "As it is" }],
      ["/labels/production", { version: 1 }],
    ];
    for (const [path, body] of changes) expect((await call("POST", `/${id}${path}`, body)).body).toEqual(prompt);
    const log = await service.fetch(`/v1/organization/audit_logs?resource_ids=${id}`, {
      headers: { authorization: `Bearer ${service.adminKey}` },
    });
    const { data } = (await log.json()) as { data: { type: string }[] };
    expect(data.map(({ type }) => type)).toEqual(["prompt.label.updated", "prompt.updated", "prompt.created"]);
  });

  test("says how requests with each version were rated", async () => {
    const id = await create("rated", { model: "writer", messages: [{ role: "user", content: "One" }] });
    await call("POST", `/${id}/versions`, {
      content: { model: "writer", messages: [{ role: "user", content: "Two" }] },
    });
    const rate = async (version: string, score: number) => {
      const { response } = await client.responses.create({ prompt: { id, version } }).withResponse();
      const path = `/v1/organization/requests/${response.headers.get("x-request-id")}/feedback`;
      await eventually(async () => expect((await service.post(path, { score })).status).toBe(200));
    };
    await rate("1", 0);
    await rate("2", 1);
    await rate("2", 0.5);
    const { body } = await call("GET", `/${id}/usage`);
    expect(body.data).toMatchObject([
      { version: 2, requests: 2, ratings: 2, mean_score: 0.75 },
      { version: 1, requests: 1, ratings: 1, mean_score: 0 },
    ]);
  });

  test("manages prompts: names are unique, versions never change, and a deleted prompt is gone", async () => {
    const id = await create("managed");
    expect(await call("POST", "", { name: "managed", content: CONTENT })).toMatchObject({ status: 409 });
    expect((await call("POST", `/${id}`, { name: "renamed", description: "For notes" })).body).toMatchObject({
      name: "renamed",
      description: "For notes",
    });
    expect((await call("GET", "/renamed")).body.id).toBe(id);
    const listed = (await call("GET", "?limit=100")).body;
    expect(listed.data.map((prompt: { name: string }) => prompt.name)).toContain("renamed");
    const versions = (await call("GET", `/${id}/versions`)).body.data;
    expect(versions).toMatchObject([{ version: 1, content: CONTENT }]);
    const unused = { ...CONTENT, variables: [...CONTENT.variables, { name: "extra", type: "text" }] };
    const refused = await call("POST", `/${id}/versions`, { content: unused });
    expect(refused).toMatchObject({ status: 400, body: { error: { param: "content.variables[3]" } } });
    expect((await call("DELETE", `/${id}`)).body).toEqual({ id, object: "prompt", deleted: true });
    expect((await call("GET", `/${id}`)).status).toBe(404);
    expect((await call("GET", `/${id}/versions/1`)).status).toBe(404);
  });

  test("finds prompts of the own project only", async () => {
    const id = await create("secret");
    const admin = new OpenAI({ baseURL: service.baseUrl, apiKey: "unused", adminAPIKey: service.adminKey });
    const project = await admin.admin.organization.projects.create({ name: "Other" });
    const account = await admin.admin.organization.projects.serviceAccounts.create(project.id, { name: "other" });
    const other = service.client({ apiKey: account.api_key?.value ?? "", maxRetries: 0 });
    const variables = { words: "1", topic: "x" };
    for (const reference of [id, "secret"]) {
      const asking = other.responses.create({ prompt: { id: reference, variables }, input: "x" });
      await expect(asking).rejects.toMatchObject({ status: 404, code: "prompt_not_found" });
    }
  });

  test("gives versions that are added at the same time numbers of their own", async () => {
    const id = await create("raced");
    const content = { messages: [{ role: "user", content: "x" }] };
    const added = await Promise.all(Array.from({ length: 8 }, () => call("POST", `/${id}/versions`, { content })));
    expect(added.map(({ body }) => body.version).toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test("parlance prompts lists, adds, labels, shows and sums", async () => {
    const file = join(service.dataDirectory, "content.json");
    await writeFile(file, JSON.stringify({ model: "writer", messages: [{ role: "user", content: "One" }] }));
    const parlance = async (...words: string[]) => {
      const connection = ["--url", service.origin, "--key", service.apiKey];
      return runParlance(["prompts", ...words, ...connection], { cwd: service.dataDirectory });
    };
    expect(await parlance("push", "from the terminal", file)).toMatchObject({ code: 0 });
    const second = await parlance("push", "from the terminal", file, "--label", "staging", "--note", "Again");
    expect(second.stdout).toContain("Added version 2");
    expect((await parlance("label", "from the terminal", "production", "1")).stdout).toContain("is version 1");
    expect((await parlance("list")).stdout).toMatch(/from the terminal +2 +production=1 staging=2/);
    expect(JSON.parse((await parlance("show", "from the terminal")).stdout)).toMatchObject({ model: "writer" });
    await client.responses.create({ prompt: { id: "from the terminal" } });
    expect((await parlance("usage", "from the terminal")).stdout).toMatch(/1 +1 +100 +10 +\$0\.200000 +-/);
    expect(await parlance("label", "none", "production", "1")).toMatchObject({ code: 1 });
  });
});
