/** Stored responses and conversations through the official client, on both databases. */

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DatabaseOptions, openDatabase } from "../src/storage/database.ts";
import { useDatabases } from "./support/databases.ts";
import { eventually } from "./support/eventually.ts";
import { type Service, startService } from "./support/service.ts";

const config = `
builtin_models: false
models:
  - id: caller
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true, vision: true }
        replies:
          - match: weather
            match_tool: sunny
            text: "It is sunny."
          - match: weather
            tool_calls: [{ name: weather, arguments: { city: Paris } }]
          - match: breaks
            text: "one two three"
            fail_after_tokens: 2
            fail_with: { kind: upstream-failed, message: "Down." }
          - match: slow
            text: "${"word ".repeat(200)}"
            delay_ms_per_token: 40
          - match: brisk
            text: "${"word ".repeat(20)}"
            delay_ms_per_token: 40
        echo: true
`;
const model = "caller";
const notFound = { status: 404 };
const databases = useDatabases();

describe.each(["sqlite", "postgresql"] as const)("on %s", (kind) => {
  let service: Service;
  let client: OpenAI;
  let other: OpenAI;
  let admin: OpenAI;
  let options: DatabaseOptions;
  beforeAll(async () => {
    options = await databases.create(kind);
    const environment: Record<string, string> =
      options.url === undefined ? {} : { DATABASE_URL: options.url.reveal(), PARLANCE_ENCRYPTION_KEY: "k".repeat(40) };
    service = await startService({ config, environment });
    client = service.client({ maxRetries: 0 });
    admin = new OpenAI({ baseURL: service.baseUrl, apiKey: "unused", adminAPIKey: service.adminKey });
    other = (await newProject("other")).client;
  });
  afterAll(() => service?.stop());

  async function newProject(name: string) {
    const project = await admin.admin.organization.projects.create({ name });
    const account = await admin.admin.organization.projects.serviceAccounts.create(project.id, { name });
    const apiKey = account.api_key?.value ?? "";
    return { project, client: service.client({ apiKey, maxRetries: 0 }) };
  }

  test("stores a response with its input by default, and deletes it", async () => {
    const created = await client.responses.create({ model, input: "Keep this", metadata: { topic: "a" } });
    expect(created).toMatchObject({ store: true, metadata: { topic: "a" } });
    const { _request_id: _created, ...expected } = created;
    expect(await client.responses.retrieve(created.id)).toMatchObject(expected);
    const { data } = await client.responses.inputItems.list(created.id);
    expect(data).toMatchObject([
      { type: "message", role: "user", content: [{ type: "input_text", text: "Keep this" }] },
    ]);
    await client.responses.delete(created.id);
    await expect(client.responses.retrieve(created.id)).rejects.toMatchObject(notFound);
    await expect(client.responses.inputItems.list(created.id)).rejects.toMatchObject(notFound);
    await expect(client.responses.delete(created.id)).rejects.toMatchObject(notFound);
  });

  test.runIf(kind === "sqlite")("keeps its key where only its owner may read it", () => {
    expect(statSync(join(service.dataDirectory, "encryption.key")).mode & 0o777).toBe(0o600);
  });

  test("stores a streamed response, and none with store: false or of a failed stream", async () => {
    const streamed = await client.responses.stream({ model, input: "Keep this too" }).finalResponse();
    expect(await client.responses.retrieve(streamed.id)).toMatchObject({ output_text: "Keep this too" });
    const declined = await client.responses.create({ model, input: "Forget this", store: false });
    expect(declined).toMatchObject({ store: false });
    await expect(client.responses.retrieve(declined.id)).rejects.toMatchObject(notFound);
    const events = await Array.fromAsync(await client.responses.create({ model, input: "breaks", stream: true }));
    expect(events.at(-1)).toMatchObject({ type: "response.failed", response: { store: false } });
  });

  test("continues from a chain of responses, with tool calls", async () => {
    const tools = [{ type: "function" as const, name: "weather", parameters: { type: "object" }, strict: false }];
    const asked = await client.responses.create({ model, input: "How is the weather?", tools });
    const [call] = asked.output;
    if (call?.type !== "function_call") throw new Error("no call");
    const answered = await client.responses.create({
      model,
      tools,
      previous_response_id: asked.id,
      input: [{ type: "function_call_output", call_id: call.call_id, output: "sunny" }],
    });
    expect(answered).toMatchObject({ output_text: "It is sunny.", previous_response_id: asked.id });
    const tokens = await client.responses.inputTokens.count({
      model,
      previous_response_id: answered.id,
      input: "And?",
    });
    const alone = await client.responses.inputTokens.count({ model, input: "And?" });
    expect(tokens.input_tokens).toBeGreaterThan(alone.input_tokens);
    await client.responses.delete(asked.id);
    await expect(
      client.responses.create({ model, previous_response_id: answered.id, input: "And?" }),
    ).rejects.toMatchObject({ ...notFound, param: "previous_response_id", code: "previous_response_not_found" });
  });

  test("replaces references by the items of earlier responses", async () => {
    const first = await client.responses.create({ model, input: "An earlier answer" });
    const id = (first.output[0] as { id: string }).id;
    const input = [
      { type: "item_reference" as const, id },
      { role: "user" as const, content: "again" },
    ];
    const counted = await client.responses.inputTokens.count({ model, input });
    const alone = await client.responses.inputTokens.count({ model, input: "again" });
    expect(counted.input_tokens).toBeGreaterThan(alone.input_tokens);
    await expect(other.responses.create({ model, input })).rejects.toMatchObject({ ...notFound, param: "input[0].id" });
  });

  test("keeps a conversation with its items", async () => {
    const conversation = await client.conversations.create({
      metadata: { topic: "a" },
      items: [{ type: "message", role: "user", content: "First" }],
    });
    const { id } = conversation;
    expect(conversation).toMatchObject({ object: "conversation", metadata: { topic: "a" } });
    expect(await client.conversations.update(id, { metadata: { topic: "b" } })).toMatchObject({
      metadata: { topic: "b" },
    });
    expect(await client.conversations.retrieve(id)).toMatchObject({ id, metadata: { topic: "b" } });
    const response = await client.responses.create({ model, conversation: id, input: "Second" });
    expect(response.conversation).toEqual({ id });
    await client.conversations.items.create(id, { items: [{ role: "user", content: "Third" }] });
    const texts = async (order: "asc" | "desc", limit: number) => {
      const items = await Array.fromAsync(client.conversations.items.list(id, { order, limit }));
      return items.map((item) => (item.type === "message" ? (item.content[0] as { text: string }).text : item.type));
    };
    expect(await texts("asc", 2)).toEqual(["First", "Second", "Second", "Third"]);
    expect(await texts("desc", 3)).toEqual(["Third", "Second", "Second", "First"]);
    const { data } = await client.conversations.items.list(id, { order: "asc" });
    const [first] = data as { id: string }[];
    const item = { conversation_id: id };
    expect(await client.conversations.items.retrieve(first?.id ?? "", item)).toMatchObject({ role: "user" });
    expect(await client.conversations.items.delete(first?.id ?? "", item)).toMatchObject({ id });
    await expect(client.conversations.items.retrieve(first?.id ?? "", item)).rejects.toMatchObject(notFound);
    expect(await texts("asc", 20)).toEqual(["Second", "Second", "Third"]);
    expect(await client.conversations.delete(id)).toMatchObject({ deleted: true });
    await expect(client.conversations.retrieve(id)).rejects.toMatchObject(notFound);
    // The response keeps its items.
    expect((await client.responses.inputItems.list(response.id)).data).toHaveLength(1);
    await expect(client.responses.create({ model, conversation: id, input: "More" })).rejects.toMatchObject({
      ...notFound,
      param: "conversation",
    });
  });

  test("adds concurrent responses to a conversation one after the other", async () => {
    const { id } = await client.conversations.create();
    const inputs = Array.from({ length: 6 }, (_each, index) => `Input ${index}`);
    await Promise.all(inputs.map((input) => client.responses.create({ model, conversation: id, input, store: false })));
    const items = await Array.fromAsync(client.conversations.items.list(id, { order: "asc" }));
    const texts = items.map((item) => (item.type === "message" ? (item.content[0] as { text: string }).text : ""));
    expect(texts).toHaveLength(12);
    for (let index = 0; index < 12; index += 2) expect(texts[index + 1]).toContain(texts[index]);
  });

  test("does not find another project's responses, items and conversations", async () => {
    const { id } = await client.responses.create({ model, input: "Private" });
    const conversation = await client.conversations.create({ items: [{ role: "user", content: "Private" }] });
    const items = await client.conversations.items.list(conversation.id);
    const item = items.data[0] as { id: string };
    const path = { conversation_id: conversation.id };
    const attempts: (() => Promise<unknown>)[] = [
      () => other.responses.retrieve(id),
      () => other.responses.delete(id),
      () => other.responses.cancel(id),
      () => other.responses.inputItems.list(id),
      () => other.responses.create({ model, input: "x", previous_response_id: id }),
      () => other.responses.create({ model, input: "x", conversation: conversation.id }),
      () => other.conversations.retrieve(conversation.id),
      () => other.conversations.update(conversation.id, { metadata: {} }),
      () => other.conversations.delete(conversation.id),
      () => other.conversations.items.list(conversation.id),
      () => other.conversations.items.create(conversation.id, { items: [{ role: "user", content: "x" }] }),
      () => other.conversations.items.retrieve(item.id, path),
      () => other.conversations.items.delete(item.id, path),
    ];
    for (const attempt of attempts) {
      const failure = await attempt().then(
        () => undefined,
        (error: Error) => error,
      );
      expect(failure).toMatchObject(notFound);
      // Worded as for an id that nobody has.
      expect(failure?.message).toMatch(/There is no (response|conversation)/);
    }
    expect(await client.responses.retrieve(id)).toMatchObject({ id });
  });

  test("runs a response in the background, and streams it again from any event", async () => {
    const created = await client.responses.create({ model, input: "brisk", background: true });
    expect(created).toMatchObject({ status: "queued", background: true, store: true });
    const all = await Array.fromAsync(await client.responses.retrieve(created.id, { stream: true }));
    expect(all.map((event) => event.sequence_number)).toEqual(all.map((_, index) => index));
    expect(all.slice(0, 3).map(({ type }) => type)).toEqual([
      "response.created",
      "response.queued",
      "response.in_progress",
    ]);
    expect(all.at(-1)).toMatchObject({ type: "response.completed" });
    const done = await client.responses.retrieve(created.id);
    expect(done).toMatchObject({ status: "completed", output_text: "word ".repeat(20), background: true });
    const rest = await Array.fromAsync(
      await client.responses.retrieve(created.id, { stream: true, starting_after: 9 }),
    );
    expect(rest).toEqual(all.slice(10));
    const next = await client.responses.create({ model, previous_response_id: created.id, input: "Next" });
    expect(next.output_text).toBe("Next");
  });

  test("streams a background response, which goes on when its client disconnects", async () => {
    const stream = await client.responses.create({ model, input: "brisk", background: true, stream: true });
    let id = "";
    for await (const event of stream) {
      if (event.type === "response.created") id = event.response.id;
      if (event.type === "response.output_text.delta") break;
    }
    stream.controller.abort();
    await eventually(async () => {
      expect(await client.responses.retrieve(id)).toMatchObject({ status: "completed" });
    });
  });

  test("cancels a background response", async () => {
    const { id } = await client.responses.create({ model, input: "slow", background: true });
    await eventually(async () => {
      expect(await client.responses.retrieve(id)).toMatchObject({ status: "in_progress" });
    });
    expect(await client.responses.cancel(id)).toMatchObject({ id, status: "cancelled" });
    expect(await client.responses.cancel(id)).toMatchObject({ status: "cancelled" });
    await pause(400);
    expect(await client.responses.retrieve(id)).toMatchObject({ status: "cancelled" });
    const finished = await client.responses.create({ model, input: "Hi" });
    await expect(client.responses.cancel(finished.id)).rejects.toMatchObject({ status: 400 });
  });

  test("stores the failure of a background response, and refuses an unknown model at once", async () => {
    const { id } = await client.responses.create({ model, input: "breaks", background: true });
    await eventually(async () => {
      const failed = await client.responses.retrieve(id);
      expect(failed).toMatchObject({ status: "failed", error: { message: expect.any(String) } });
    });
    const unknown = client.responses.create({ model: "nope", input: "Hi", background: true });
    await expect(unknown).rejects.toMatchObject({ status: 404, code: "model_not_found" });
  });

  test.each([
    ["GET", "/v1/responses/resp_1/input_items?limit=0", 400],
    ["GET", "/v1/responses/resp_1/input_items?order=up", 400],
    ["GET", "/v1/responses/resp_1?starting_after=-1", 400],
    ["GET", "/v1/responses/resp_1?stream=maybe", 400],
    ["GET", `/v1/responses/${"x".repeat(400)}`, 404],
    ["GET", "/v1/conversations/conv_1/items?after=msg_1", 404],
    ["POST", "/v1/responses/resp_1/cancel", 404],
    ["POST", "/v1/conversations/conv_1", 400],
  ])("%s %s answers %s", async (method, path, status) => {
    expect((await service.fetch(path, { method })).status).toBe(status);
  });

  test.each([
    [{ items: "x" }, "items"],
    [{ items: [{ role: "nobody", content: "x" }] }, "items[0].role"],
    [{ items: Array(21).fill({ role: "user", content: "x" }) }, "items"],
    [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [index, "x"])) }, "metadata"],
    [{ metadata: { a: ["x"] } }, "metadata.a"],
  ])("rejects a conversation of %j", async (body, param) => {
    const answer = await service.post("/v1/conversations", body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { param } });
  });

  test("deletes the content of an archived project", async () => {
    const { project, client: mine } = await newProject("short-lived");
    await mine.responses.create({ model, input: "Secret" });
    await mine.conversations.create({ items: [{ role: "user", content: "Secret" }] });
    await admin.admin.organization.projects.archive(project.id);
    const database = openDatabase({ ...options, file: join(service.dataDirectory, "parlance.sqlite") });
    for (const table of ["storedResponses", "conversations", "responseItems"] as const) {
      const rows = database.run((executor) =>
        executor.selectFrom(table).selectAll().where("projectId", "=", project.id).execute(),
      );
      expect(await rows).toEqual([]);
    }
    await database.close();
  });
});

describe.each([
  ["responses.store: false", "sqlite", "responses: { store: false }\n"],
  ["PostgreSQL and no key", "postgresql", ""],
] as const)("with %s", (_name, kind, setting) => {
  let service: Service;
  let client: OpenAI;
  beforeAll(async () => {
    const { url } = await databases.create(kind);
    const environment: Record<string, string> = url === undefined ? {} : { DATABASE_URL: url.reveal() };
    service = await startService({ config: `${setting}${config}`, environment });
    client = service.client({ maxRetries: 0 });
  });
  afterAll(() => service?.stop());

  test("answers without storing anything, and says so", async () => {
    const response = await client.responses.create({ model, input: "Hi", store: true });
    expect(response).toMatchObject({ store: false, output_text: "Hi" });
    await expect(client.responses.retrieve(response.id)).rejects.toMatchObject({
      status: 404,
      code: "storage_disabled",
    });
    await expect(client.conversations.create()).rejects.toMatchObject({ status: 404, code: "storage_disabled" });
    expect(existsSync(join(service.dataDirectory, "encryption.key"))).toBe(false);
  });

  test.each([
    [{ previous_response_id: "resp_1" }, "previous_response_id"],
    [{ conversation: "conv_1" }, "conversation"],
    [{ background: true }, "background"],
    [{ input: [{ type: "item_reference" as const, id: "msg_1" }] }, "input[0].type"],
  ])("rejects %j", async (part, param) => {
    const failing = client.responses.create({ model, input: "Hi", ...part });
    await expect(failing).rejects.toMatchObject({ status: 400, param });
  });
});
