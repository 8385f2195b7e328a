import { afterEach, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { Keyring } from "../../kernel/encryption/keyring.ts";
import { createLogger } from "../../kernel/logger.ts";
import { Secret } from "../../kernel/secret.ts";
import { type Database, openDatabase } from "../../storage/database.ts";
import { insertOrganization } from "../accounts/organizations/organization-queries.ts";
import { archiveProject, insertProject } from "../accounts/projects/project-queries.ts";
import { WebhookOutbox } from "../webhooks/webhook-outbox.ts";
import { MAX_CONTEXT_ITEMS } from "./context-limits.ts";
import { EventLog } from "./event-log.ts";
import { responseRetention } from "./response-retention.ts";
import { ResponseStorage } from "./response-storage.ts";
import type { NewResponse } from "./response-store.ts";
import { SealedRows } from "./sealed-rows.ts";

const databases = useDatabases();
const logger = createLogger("silent");
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const projectId = "proj_a";
const MAX_BYTES_PER_PROJECT = 4_000_000;
const DAY_MS = 86_400_000;
const hold = () => {};
const row = { name: "a", isDefault: 0, createdAt: 0, archivedAt: null };

async function open(kind: (typeof DATABASE_KINDS)[number], maxContextBytes = 10_000) {
  const database = openDatabase(await databases.create(kind));
  closing.push(() => database.close());
  await database.run((executor) => insertOrganization(executor, { ...row, id: "org_a" }));
  await database.run((executor) => insertProject(executor, { ...row, id: projectId, organizationId: "org_a" }));
  return { database, storage: storageOf(database, "k", maxContextBytes) };
}

function storageOf(
  database: Database,
  key: string,
  maxContextBytes = 10_000,
  outbox = new WebhookOutbox([]),
): ResponseStorage {
  const keyring = new Keyring([new Secret(key.repeat(32))]);
  const limits = { maxContextBytes, maxSizePerProject: MAX_BYTES_PER_PROJECT };
  const storage = new ResponseStorage({
    database,
    keyring,
    logger,
    keepDays: 30,
    ...limits,
    outbox,
  });
  closing.push(() => storage.close());
  return storage;
}

function response(id: string, changes: Partial<NewResponse> = {}): NewResponse {
  return {
    projectId,
    id,
    envelope: { id, status: "completed" },
    previousResponseId: undefined,
    conversationId: undefined,
    isBackground: false,
    input: [{ id: `${id}_in`, text: `question of ${id}` }],
    output: [{ id: `${id}_out`, text: `answer of ${id}` }],
    ...changes,
  };
}

async function countRows(database: Database): Promise<number[]> {
  const tables = ["storedResponses", "conversations", "responseItems", "responseEvents"] as const;
  const counts = tables.map((table) =>
    database.run((executor) => executor.selectFrom(table).select("content").execute()),
  );
  return (await Promise.all(counts)).map((rows) => rows.length);
}

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  test("stores no text that can be read without the key", async () => {
    const { database, storage } = await open(kind);
    await storage.responses.insert(response("resp_1", { envelope: { status: "completed", metadata: "question" } }));
    await storage.conversations.create({ projectId, id: "conv_1" }, { topic: "question" }, []);
    for (const table of ["storedResponses", "conversations", "responseItems"] as const) {
      const rows = await database.run((executor) => executor.selectFrom(table).select("content").execute());
      for (const { content } of rows) expect(Buffer.from(content).includes("question")).toBe(false);
    }
    const other = storageOf(database, "x");
    await expect(other.responses.find({ projectId, id: "resp_1" })).rejects.toMatchObject({ kind: "not-found" });
    expect(await storage.responses.find({ projectId, id: "resp_1" })).toMatchObject({
      response: { metadata: "question", output: [{ id: "resp_1_out" }] },
    });
  });

  test("reads a chain in its order, and fails when a link is missing", async () => {
    const { storage } = await open(kind);
    for (const [index, id] of ["resp_c", "resp_a", "resp_b"].entries()) {
      const previousResponseId = ["resp_c", "resp_a"][index - 1];
      await storage.responses.insert(response(id, { previousResponseId }));
    }
    const items = await storage.items.readChain({ projectId, id: "resp_b" }, hold);
    expect(items.map(({ id }) => id)).toEqual([
      ...["resp_c_in", "resp_c_out", "resp_a_in", "resp_a_out", "resp_b_in", "resp_b_out"],
    ]);
    await storage.responses.delete({ projectId, id: "resp_c" });
    await expect(storage.items.readChain({ projectId, id: "resp_b" }, hold)).rejects.toMatchObject({
      kind: "not-found",
      message: expect.stringContaining("resp_c"),
    });
    await expect(storage.items.readChain({ projectId: "proj_b", id: "resp_b" }, hold)).rejects.toMatchObject({
      kind: "not-found",
    });
  });

  test("refuses to continue more stored bytes than the limit", async () => {
    const { storage } = await open(kind, 300);
    const input = [{ id: "in", text: "x".repeat(400) }];
    await storage.responses.insert(response("resp_1", { input }));
    await expect(storage.items.readChain({ projectId, id: "resp_1" }, hold)).rejects.toMatchObject({
      code: "context_length_exceeded",
      param: "previous_response_id",
    });
  });

  test("refuses to continue more items than the limit", async () => {
    const { storage } = await open(kind, 100_000_000);
    const conversation = { projectId, id: "conv_1" };
    const items = Array.from({ length: MAX_CONTEXT_ITEMS }, (_, index) => ({ id: `item_${index}` }));
    await storage.conversations.create(conversation, {}, items);
    expect(await storage.conversations.readItems(conversation, hold)).toHaveLength(MAX_CONTEXT_ITEMS);
    await storage.conversations.addItems(conversation, [{ id: "further" }]);
    await expect(storage.conversations.readItems(conversation, hold)).rejects.toMatchObject({
      code: "context_length_exceeded",
      param: "conversation",
    });
  });

  test("stores nothing further of a project at its limit, until it has deleted content", async () => {
    const { database, storage } = await open(kind);
    const large = (id: string) =>
      response(id, { input: [{ id: `${id}_in`, text: "x".repeat(MAX_BYTES_PER_PROJECT / 2) }] });
    expect(await storage.save(large("resp_1"), true)).toBe(true);
    // The content that another process has stored counts, too.
    const next = storageOf(database, "k");
    expect(await next.save(large("resp_2"), true)).toBe(true);
    await next.measureStoredBytes();
    expect(await next.save(large("resp_3"), true)).toBe(false);
    const full = { kind: "quota-exhausted", code: "insufficient_quota" };
    const conversation = { projectId, id: "conv_1" };
    await expect(next.conversations.create(conversation, {}, [])).rejects.toMatchObject(full);
    await next.responses.delete({ projectId, id: "resp_1" });
    await next.measureStoredBytes();
    expect(await next.save(large("resp_3"), true)).toBe(true);
  });

  test("keeps the items of a conversation when their response is deleted", async () => {
    const { database, storage } = await open(kind);
    const conversation = { projectId, id: "conv_1" };
    await storage.conversations.create(conversation, {}, [{ id: "first" }]);
    await storage.responses.insert(response("resp_1", { conversationId: "conv_1" }));
    await storage.responses.delete({ projectId, id: "resp_1" });
    const items = await storage.conversations.readItems(conversation, hold);
    expect(items.map(({ id }) => id)).toEqual(["first", "resp_1_in", "resp_1_out"]);
    await storage.conversations.delete(conversation);
    expect(await countRows(database)).toEqual([0, 0, 0, 0]);
  });

  test("removes what was not used for the days to keep, and keeps a chain that is continued", async () => {
    const { database, storage } = await open(kind);
    await storage.responses.insert(response("resp_1"));
    await storage.responses.insert(response("resp_2", { previousResponseId: "resp_1" }));
    await storage.responses.insert(response("resp_3"));
    await storage.conversations.create({ projectId, id: "conv_1" }, {}, [{ id: "first" }]);
    await database.run((executor) =>
      executor
        .updateTable("storedResponses")
        .set({ usedAt: Date.now() - 20 * DAY_MS })
        .execute(),
    );
    await storage.items.readChain({ projectId, id: "resp_2" }, hold);
    const retention = responseRetention({ database, logger, keepDays: 30 });
    await retention.removeExpired(Date.now() + 15 * DAY_MS);
    expect(await countRows(database)).toEqual([2, 1, 5, 0]);
    await retention.removeExpired(Date.now() + 31 * DAY_MS);
    expect(await countRows(database)).toEqual([0, 0, 0, 0]);
    retention[Symbol.dispose]();
  });

  test("removes what a project stored after its archival", async () => {
    const { database, storage } = await open(kind);
    await database.run((executor) => archiveProject(executor, { organizationId: "org_a", id: projectId }, Date.now()));
    await storage.responses.insert(response("resp_1"));
    const retention = responseRetention({ database, logger, keepDays: 30 });
    await retention.removeExpired();
    retention[Symbol.dispose]();
    expect(await countRows(database)).toEqual([0, 0, 0, 0]);
  });

  test("shows a running response as failed once its process is dead", async () => {
    const { database, storage } = await open(kind);
    const envelope = { id: "resp_1", status: "queued" };
    await storage.responses.insert(response("resp_1", { envelope, isBackground: true, output: [] }));
    expect(await storage.responses.find({ projectId, id: "resp_1" })).toMatchObject({ isRunning: true });
    await database.run((executor) =>
      executor
        .updateTable("storedResponses")
        .set({ usedAt: Date.now() - 61_000 })
        .execute(),
    );
    expect(await storage.responses.find({ projectId, id: "resp_1" })).toMatchObject({
      isRunning: false,
      response: { status: "failed", error: { code: "server_error" } },
    });
  });

  test("ends a response once its process is dead, with one event for all replicas", async () => {
    const { database, storage } = await open(kind);
    const secret = new Secret(`whsec_${"a".repeat(32)}`);
    const outbox = new WebhookOutbox([{ url: "https://a.example", secret, events: ["response.failed"] }]);
    const replicas = [storageOf(database, "k", 10_000, outbox), storageOf(database, "k", 10_000, outbox)];
    for (const id of ["resp_1", "resp_2"]) {
      const envelope = { id, status: "in_progress" };
      await storage.responses.insert(response(id, { envelope, isBackground: true, output: [] }));
    }
    await database.run((executor) =>
      executor
        .updateTable("storedResponses")
        .set({ usedAt: Date.now() - 61_000 })
        .where("id", "=", "resp_1")
        .execute(),
    );
    const otherKey = storageOf(database, "o", 10_000, outbox);
    for (const replica of [otherKey, ...replicas]) await replica.responses.endDead();
    const statuses = () =>
      database.run((executor) =>
        executor.selectFrom("storedResponses").select(["id", "status"]).orderBy("id").execute(),
      );
    expect(await statuses()).toContainEqual({ id: "resp_1", status: "in_progress" });
    for (const replica of [otherKey, ...replicas]) await replica.responses.endDead();
    const deliveries = await database.run((executor) =>
      executor.selectFrom("webhookDeliveries").select(["type", "payload"]).execute(),
    );
    expect(await statuses()).toEqual([
      { id: "resp_1", status: "failed" },
      { id: "resp_2", status: "in_progress" },
    ]);
    expect(deliveries).toEqual([{ type: "response.failed", payload: expect.stringContaining("resp_1") }]);
    expect(await storage.responses.find({ projectId, id: "resp_1" })).toMatchObject({
      isRunning: false,
      response: { status: "failed", error: { code: "server_error" } },
    });
  });

  test("replays the events of a run of another replica, and cancels it there", async () => {
    const { database, storage } = await open(kind);
    const replica = storageOf(database, "k");
    const queued = response("resp_1", { envelope: { status: "queued" }, isBackground: true, output: [] });
    await storage.responses.insert(queued);
    const aborted = Promise.withResolvers<void>();
    async function* events() {
      yield { type: "response.created", sequence_number: 0 };
      yield { type: "response.in_progress", sequence_number: 1 };
      await aborted.promise;
    }
    const toFailedEvent = () => ({ type: "response.failed", sequence_number: 2 });
    storage.background.start({ queued, abort: aborted.resolve, toFailedEvent }, events());
    const read: number[] = [];
    for await (const event of replica.background.follow(queued, 0, new AbortController().signal)) {
      read.push(event.sequence_number);
      if (read.length === 2) await replica.background.cancel(queued);
    }
    expect(read).toEqual([0, 1]);
    // The run sees at its next write, which the heartbeat delays, or here a deletion, that it is over.
    await storage.background.delete(queued);
    await aborted.promise;
    expect(await countRows(database)).toEqual([0, 0, 0, 0]);
  });
});

test("stops to follow when its client leaves, also while nothing happens, here and at another replica", async () => {
  const { database, storage } = await open("sqlite");
  const replica = storageOf(database, "k");
  const queued = response("resp_1", { envelope: { status: "queued" }, isBackground: true, output: [] });
  await storage.responses.insert(queued);
  const aborted = Promise.withResolvers<void>();
  async function* events() {
    yield { type: "response.created", sequence_number: 0 };
    await aborted.promise;
  }
  const toFailedEvent = () => ({ type: "response.failed", sequence_number: 1 });
  storage.background.start({ queued, abort: aborted.resolve, toFailedEvent }, events());
  for (const { background } of [storage, replica]) {
    const leaving = new AbortController();
    const following = background.follow(queued, 1_000_000_000, leaving.signal);
    const next = following.next();
    await new Promise(setImmediate);
    leaving.abort();
    expect(await next).toEqual({ done: true, value: undefined });
    const late = background.follow(queued, 1, leaving.signal);
    expect(await late.next()).toEqual({ done: true, value: undefined });
  }
  await storage.background.delete(queued);
});

test("tells whether a response runs without reading its content", async () => {
  const { database, storage } = await open("sqlite");
  const envelope = { id: "resp_1", status: "in_progress" };
  const running = response("resp_1", { envelope, isBackground: true, output: [] });
  await storage.responses.insert(running);
  // Neither is there a key for its content.
  const other = storageOf(database, "o").responses;
  expect(await other.state(running)).toEqual({ isBackground: true, isRunning: true });
  await database.run((executor) =>
    executor
      .updateTable("storedResponses")
      .set({ usedAt: Date.now() - 61_000 })
      .execute(),
  );
  expect(await other.state(running)).toEqual({ isBackground: true, isRunning: false });
  await expect(other.state({ projectId, id: "resp_2" })).rejects.toMatchObject({ kind: "not-found" });
});

test("reads events from any sequence number of a batch", async () => {
  const { database, storage } = await open("sqlite");
  const queued = response("resp_1", { envelope: { status: "queued" }, isBackground: true, output: [] });
  await storage.responses.insert(queued);
  const log = new EventLog(database, new SealedRows(new Keyring([new Secret("k".repeat(32))]), logger));
  const events = Array.from({ length: 7 }, (_each, index) => ({ type: "x", sequence_number: index }));
  expect(await log.append(queued, "in_progress", events.slice(0, 3))).toBe(true);
  expect(await log.append(queued, "in_progress", [])).toBe(true);
  expect(await log.append(queued, "in_progress", events.slice(3))).toBe(true);
  for (let from = 0; from <= 7; from += 1) expect(await log.read(queued, from)).toEqual(events.slice(from));
});
