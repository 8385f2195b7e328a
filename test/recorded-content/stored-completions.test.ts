/** Chat completions with `store: true`, through the official client, on both databases. */

import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLogger } from "../../src/kernel/logger.ts";
import { type DatabaseOptions, openDatabase } from "../../src/storage/database.ts";
import { DATABASE_KINDS, useDatabases } from "../support/databases/databases.ts";
import { type EchoUpstream, startEchoUpstream } from "../support/guardrails/echo-upstream.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

const databases = useDatabases();

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  let upstream: EchoUpstream;
  let service: ServiceProcess;
  let url: DatabaseOptions["url"];
  beforeAll(async () => {
    upstream = await startEchoUpstream();
    ({ url } = await databases.create(kind));
    service = await startServiceProcess({
      config: `
builtin_models: false
server: { workers: 2 }
models:
  - { id: local, task: chat, deployments: [{ engine: scripted, echo: true }] }
  - { id: forwarded, task: chat, deployments: [${deploymentAt(upstream, "echo")}] }
`,
      environment: {
        PARLANCE_ENCRYPTION_KEY: "k".repeat(40),
        ...(url !== undefined && { DATABASE_URL: url.reveal() }),
      },
    });
  });
  afterAll(async () => {
    await service.stop();
    await upstream[Symbol.asyncDispose]();
  });

  const create = (content: string, metadata: Record<string, string>, model = "local") =>
    service.client().chat.completions.create({
      ...{ model, store: true, metadata, temperature: 0 },
      messages: [
        { role: "system", content: "Repeat." },
        { role: "user", content },
      ],
    });

  test("keeps completions apart whose upstream repeats an ID", async () => {
    const { completions } = service.client().chat;
    const metadata = { topic: "repeated" };
    const texts = ["One.", "Two.", "Three."];
    for (const text of texts) await create(text, metadata, "forwarded");
    expect((await completions.retrieve("c")).choices[0]?.message.content).toContain("Three.");
    const listed = await Array.fromAsync(completions.list({ metadata, limit: 1 }));
    expect(new Set(listed.map(({ id }) => id)).size).toBe(texts.length);
    for (const { id } of listed) await completions.delete(id);
    expect(await Array.fromAsync(completions.list({ metadata }))).toEqual([]);
  });

  test("stores, retrieves, lists, changes and deletes a completion", async () => {
    const { completions } = service.client().chat;
    const created = await create("A dipper.", { topic: "birds" });
    const stored = await completions.retrieve(created.id);
    expect(stored).toMatchObject({
      ...{ id: created.id, object: "chat.completion", model: "local", created: created.created },
      ...{ metadata: { topic: "birds" }, temperature: 0, usage: created.usage },
      choices: [{ index: 0, message: { role: "assistant", content: "A dipper." }, finish_reason: "stop" }],
    });
    const { data: messages } = await completions.messages.list(created.id);
    expect(messages).toMatchObject([
      { id: `${created.id}-0`, role: "system", content: "Repeat." },
      { id: `${created.id}-1`, role: "user", content: "A dipper.", content_parts: null },
    ]);
    expect(await completions.update(created.id, { metadata: { topic: "water" } })).toMatchObject({
      metadata: { topic: "water" },
    });
    expect(await completions.delete(created.id)).toEqual({
      ...{ id: created.id, object: "chat.completion.deleted", deleted: true },
    });
    await expect(completions.retrieve(created.id)).rejects.toMatchObject({ status: 404 });
    await expect(completions.delete(created.id)).rejects.toMatchObject({ status: 404 });
  });

  test("lists by metadata and model, in pages", async () => {
    const { completions } = service.client().chat;
    const ids: string[] = [];
    for (const number of ["1", "2", "3"]) ids.push((await create(`Gull ${number}`, { flock: "a", number })).id);
    await create("Alone.", { flock: "b" });
    const found: string[] = [];
    for await (const { id } of completions.list({ limit: 2, metadata: { flock: "a" } })) found.push(id);
    expect(found).toEqual(ids);
    const newest = await completions.list({ limit: 1, order: "desc", metadata: { flock: "a" } });
    expect(newest.data.map(({ id }) => id)).toEqual(ids.slice(-1));
    expect((await completions.list({ model: "forwarded", metadata: { flock: "a" } })).data).toEqual([]);
    await expect(completions.list({ after: "chatcmpl-none" })).rejects.toMatchObject({ status: 400, param: "after" });
  });

  test("has stored a streamed completion when the stream ends, under the ID of its chunks", async () => {
    for (const model of ["local", "forwarded"]) {
      const stream = await service.client().chat.completions.create({
        ...{ model, store: true, stream: true, metadata: { model } },
        messages: [{ role: "user", content: "A heron by the weir." }],
      });
      let id = "";
      for await (const chunk of stream) id = chunk.id;
      const stored = await service.client().chat.completions.retrieve(id);
      expect(stored.choices[0]?.message.content).toBe("A heron by the weir.");
    }
  });

  test("does not forward `store` and `metadata`, and stores nothing without `store`", async () => {
    upstream.take();
    await create("Private.", { topic: "secret-topic" }, "forwarded");
    expect(upstream.take()).not.toMatch(/"store"|secret-topic/);
    const plain = await service.client().chat.completions.create({
      ...{ model: "local", messages: [{ role: "user", content: "Gone." }] },
    });
    await expect(service.client().chat.completions.retrieve(plain.id)).rejects.toMatchObject({ status: 404 });
  });

  test("refuses metadata that is not text", async () => {
    const response = await service.post("/v1/chat/completions", {
      ...{ model: "local", store: true, metadata: { count: 1 }, messages: [{ role: "user", content: "Hi." }] },
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: "metadata.count" } });
  });

  test("has every stored completion after the process was killed", async () => {
    const ids = await Promise.all(["One.", "Two.", "Three."].map(async (text) => (await create(text, {})).id));
    const exited = once(service.process, "exit");
    service.process.kill("SIGKILL");
    await exited;
    const file = join(service.dataDirectory, "parlance.sqlite");
    const database = openDatabase({ url, file, logger: createLogger("silent") });
    const stored = await database.run((executor) =>
      executor.selectFrom("recordedContents").select("completionId").where("completionId", "in", ids).execute(),
    );
    await database.close();
    expect(stored.map(({ completionId }) => completionId).sort()).toEqual(ids.sort());
  });
});
