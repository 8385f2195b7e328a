/** Stored responses through the official client, on both databases. */

import { statSync } from "node:fs";
import { join } from "node:path";
import type OpenAI from "openai";
import { beforeAll, describe, expect, test } from "vitest";
import { openDatabase } from "../../src/storage/database.ts";
import { DATABASE_KINDS } from "../support/databases/databases.ts";
import { model, notFound, useResponseStorage } from "../support/service/response-storage-services.ts";
import type { Service } from "../support/service/service.ts";

const startStorage = useResponseStorage();

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  const storage = startStorage(kind);
  let service: Service;
  let client: OpenAI;
  let admin: OpenAI;
  let other: OpenAI;
  beforeAll(async () => {
    ({ service, client, admin } = storage());
    other = (await storage().newProject("other")).client;
  });

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

  test("deletes the content of an archived project", async () => {
    const { project, client: mine } = await storage().newProject("short-lived");
    await mine.responses.create({ model, input: "Secret" });
    await mine.conversations.create({ items: [{ role: "user", content: "Secret" }] });
    await admin.admin.organization.projects.archive(project.id);
    const database = openDatabase({ ...storage().database, file: join(service.dataDirectory, "parlance.sqlite") });
    for (const table of ["storedResponses", "conversations", "responseItems"] as const) {
      const rows = database.run((executor) =>
        executor.selectFrom(table).selectAll().where("projectId", "=", project.id).execute(),
      );
      expect(await rows).toEqual([]);
    }
    await database.close();
  });
});
