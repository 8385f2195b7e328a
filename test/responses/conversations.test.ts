/** Conversations through the official client, on both databases. */

import type OpenAI from "openai";
import { beforeAll, describe, expect, test } from "vitest";
import { DATABASE_KINDS } from "../support/databases/databases.ts";
import { model, notFound, useResponseStorage } from "../support/service/response-storage-services.ts";
import type { Service } from "../support/service/service.ts";

const startStorage = useResponseStorage();

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  const storage = startStorage(kind);
  let service: Service;
  let client: OpenAI;
  beforeAll(async () => {
    ({ service, client } = storage());
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
});
