/** Vector stores through the official client, on both databases. */

import type OpenAI from "openai";
import { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DAY_MS, DAY_SECONDS } from "../../src/kernel/durations.ts";
import { DATABASE_KINDS, useDatabases } from "../support/databases/databases.ts";
import { type Service, startService } from "../support/service/service.ts";
import { administrator, caller } from "../support/service/team-services.ts";
import { startWordEmbedder, type WordEmbedder } from "../support/vector-stores/word-embedder.ts";

const config = (url: string) => `
builtin_models: false
vector_stores: { max_vectors_per_project: 300, query_rewriter: rewriter }
prices: { vector_stores: { gigabyte_day: "0.1", search: "0.002" } }
models:
  - id: words
    task: embedding
    price: { prompt: "0.000001" }
    deployments: [{ engine: openai-compatible, base_url: "${url}", model: words }]
  - id: rewriter
    task: chat
    deployments: [{ engine: scripted, replies: [{ text: tide moon }] }]
`;
const ANIMALS = "Badgers dig tunnels under the hills.\n\nOtters swim in cold rivers and eat trout.";
const TIDES = "The moon causes the tide of the sea.\n\nA spring tide is higher than a neap tide.";
const databases = useDatabases();

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  let embedder: WordEmbedder;
  let service: Service;
  let client: OpenAI;
  beforeAll(async () => {
    embedder = await startWordEmbedder();
    const { url } = await databases.create(kind);
    const environment: Record<string, string> =
      url === undefined ? {} : { DATABASE_URL: url.reveal(), PARLANCE_ENCRYPTION_KEY: "k".repeat(40) };
    service = await startService({ config: config(embedder.url), environment });
    client = service.client({ maxRetries: 0 });
  });
  afterAll(async () => {
    await service?.stop();
    await embedder?.[Symbol.asyncDispose]();
  });

  const upload = async (text: string, name = "file.md", purpose: "assistants" | "user_data" = "assistants") =>
    client.files.create({ file: await toFile(Buffer.from(text), name), purpose });

  async function storeOf(...texts: string[]): Promise<string> {
    const files = await Promise.all(texts.map((text, index) => upload(text, `file-${index}.md`)));
    const store = await client.vectorStores.create({ name: "Test", file_ids: files.map(({ id }) => id) });
    await untilCompleted(store.id);
    return store.id;
  }

  async function untilCompleted(id: string): Promise<void> {
    await expect.poll(async () => (await client.vectorStores.retrieve(id)).status).toBe("completed");
  }

  const search = async (store: string, query: string, options = {}) => {
    const { data } = await client.vectorStores.search(store, { query, ...options });
    return data;
  };

  test("names a chunking strategy that no file of the request takes", async () => {
    const chunking_strategy = { type: "static", static: { max_chunk_size_tokens: 200, chunk_overlap_tokens: 50 } };
    const empty = await service.post("/v1/vector_stores", { chunking_strategy });
    expect(empty.headers.get("x-parlance-ignored-fields")).toBe("chunking_strategy");
    const { id } = await upload(TIDES);
    const filled = await service.post("/v1/vector_stores", { chunking_strategy, file_ids: [id] });
    expect([empty.status, filled.status]).toEqual([200, 200]);
    expect(filled.headers.get("x-parlance-ignored-fields")).toBeNull();
  });

  test("creates, changes, lists and deletes stores", async () => {
    const metadata = { team: "sea" };
    const expires_after = { anchor: "last_active_at", days: 3 } as const;
    const store = await client.vectorStores.create({ name: "Tides", metadata, expires_after });
    expect(store).toMatchObject({
      object: "vector_store",
      name: "Tides",
      metadata,
      status: "completed",
      expires_after,
      expires_at: store.created_at + 3 * 86_400,
      file_counts: { total: 0 },
    });
    const changed = await client.vectorStores.update(store.id, { name: "Moon", expires_after: null });
    expect(changed).toMatchObject({ name: "Moon", metadata, expires_at: null });
    expect(changed).not.toHaveProperty("expires_after");
    const changes = { name: "Moon at once", metadata: { team: "at once" } };
    for (let round = 0; round < 5; round += 1) {
      await client.vectorStores.update(store.id, { name: "Before", metadata: { team: "before" } });
      const { name, metadata } = changes;
      const update = (change: object) => client.vectorStores.update(store.id, change);
      await Promise.all([update({ name }), update({ metadata })]);
      expect(await client.vectorStores.retrieve(store.id)).toMatchObject(changes);
    }
    const second = await client.vectorStores.create({});
    const page = await client.vectorStores.list({ limit: 1 });
    expect(page.data.map(({ id }) => id)).toEqual([second.id]);
    const ids = (await Array.fromAsync(client.vectorStores.list({ limit: 1 }))).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([store.id, second.id]));
    expect(await client.vectorStores.delete(store.id)).toEqual({
      id: store.id,
      object: "vector_store.deleted",
      deleted: true,
    });
    await expect(client.vectorStores.retrieve(store.id)).rejects.toMatchObject({ status: 404 });
  });

  test("finds chunks by meaning and by words", async () => {
    const store = await storeOf(ANIMALS, TIDES);
    const [best, ...others] = await search(store, "tide and moon");
    expect(best).toMatchObject({ filename: "file-1.md", content: [{ type: "text", text: TIDES }] });
    expect(best?.score).toBeGreaterThan(others[0]?.score ?? 0);
    for (const { score } of others) expect(score).toBeGreaterThanOrEqual(0);
    expect(best?.score).toBeLessThanOrEqual(1);
    const [only, ...rest] = await search(store, "badgers", { max_num_results: 1 });
    expect(only?.filename).toBe("file-0.md");
    expect(rest).toEqual([]);
    const several = await search(store, "", { query: ["otters", "neap"] });
    expect(several.map(({ filename }) => filename).sort()).toEqual(["file-0.md", "file-1.md"]);
    expect(await search(store, "badgers", { ranking_options: { score_threshold: 1 } })).toEqual([]);
    const byWords = { hybrid_search: { embedding_weight: 0, text_weight: 1 } };
    expect((await search(store, "trout", { ranking_options: byWords })).map(({ filename }) => filename)).toEqual([
      "file-0.md",
    ]);
  });

  test("charges the price of a search to the project of its caller", async () => {
    const projects = administrator(service).projects;
    const project = await projects.create({ name: "Searches" });
    const account = await projects.serviceAccounts.create(project.id, { name: "searcher" });
    const other = caller(service, account.api_key?.value);
    const { id } = await other.vectorStores.create({ name: "Priced" });
    for (const query of ["tide", "moon"]) await other.vectorStores.search(id, { query });
    const searches = async () => {
      const start_time = Math.floor(Date.now() / DAY_MS) * DAY_SECONDS;
      const group_by = ["project_id", "line_item"] as const;
      const page = await administrator(service).usage.costs({ start_time, group_by: [...group_by] });
      const results = page.data.flatMap((bucket) => bucket.results as { line_item: string; project_id: string }[]);
      return results.filter((each) => each.line_item === "vector_store_search" && each.project_id === project.id);
    };
    await expect.poll(searches).toContainEqual(expect.objectContaining({ amount: { value: 0.004, currency: "usd" } }));
  });

  test("rewrites and reranks", async () => {
    const store = await storeOf(ANIMALS, TIDES);
    const path = `/vector_stores/${store}/search`;
    const query = { query: "Hello, could you tell me?", rewrite_query: true };
    const page = await client.post<{ search_query: string[]; data: { filename: string }[] }>(path, { body: query });
    expect(page.search_query).toEqual(["tide moon"]);
    expect(page.data[0]?.filename).toBe("file-1.md");
    const ranker = "words" as "auto";
    const [best] = await search(store, "otters trout", { ranking_options: { ranker } });
    expect(best?.filename).toBe("file-0.md");
    await expect(search(store, "otters", { ranking_options: { ranker: "nope" } })).rejects.toMatchObject({
      status: 404,
    });
  });

  test("filters by attributes, also after they have changed", async () => {
    const store = (await client.vectorStores.create({})).id;
    const add = async (text: string, attributes: Record<string, string | number | boolean>) => {
      const { id: file_id } = await upload(text);
      await client.vectorStores.files.createAndPoll(store, { file_id, attributes }, { pollIntervalMs: 50 });
      return file_id;
    };
    const first = await add("Tide of 1999", { year: 1999, region: "north" });
    const second = await add("Tide of 2024", { year: 2024, region: "south" });
    const found = async (filters: object) =>
      (await search(store, "tide", { filters })).map(({ file_id }) => file_id).sort();
    expect(await found({ type: "gte", key: "year", value: 2000 })).toEqual([second]);
    expect(await found({ type: "eq", key: "region", value: "north" })).toEqual([first]);
    expect(await found({ type: "in", key: "region", value: ["north", "south"] })).toEqual([first, second].sort());
    expect(await found({ type: "nin", key: "region", value: ["north"] })).toEqual([second]);
    const both = [
      { type: "eq", key: "region", value: "north" },
      { type: "lt", key: "year", value: 1990 },
    ];
    expect(await found({ type: "and", filters: both })).toEqual([]);
    expect(await found({ type: "or", filters: both })).toEqual([first]);
    const changed = await client.vectorStores.files.update(first, {
      vector_store_id: store,
      attributes: { year: 2001 },
    });
    expect(changed.attributes).toEqual({ year: 2001 });
    expect(await found({ type: "gte", key: "year", value: 2000 })).toEqual([first, second].sort());
    await expect(found({ type: "between", key: "year", value: 1 })).rejects.toMatchObject({ status: 400 });
  });

  test("shows, pages and removes files, and returns their text", async () => {
    const text = Array.from({ length: 600 }, (_, index) => `Sentence ${index} is about tides.`).join("\n");
    const { id: file_id } = await upload(text, "long.txt", "user_data");
    const store = (await client.vectorStores.create({})).id;
    const chunking_strategy = {
      type: "static" as const,
      static: { max_chunk_size_tokens: 100, chunk_overlap_tokens: 0 },
    };
    const added = await client.vectorStores.files.createAndPoll(
      store,
      { file_id, chunking_strategy },
      { pollIntervalMs: 50 },
    );
    expect(added).toMatchObject({ id: file_id, status: "completed", last_error: null, chunking_strategy });
    const chunks: string[] = [];
    for await (const { text: chunk } of client.vectorStores.files.content(file_id, { vector_store_id: store })) {
      chunks.push(chunk ?? "");
    }
    expect(chunks.join("\n")).toBe(text);
    expect(chunks.length).toBeGreaterThan(30);
    const listed = await client.vectorStores.files.list(store, { filter: "completed" });
    expect(listed.data.map(({ id }) => id)).toEqual([file_id]);
    expect((await client.vectorStores.retrieve(store)).usage_bytes).toBe(added.usage_bytes);
    expect(await search(store, "sentence tides")).not.toEqual([]);
    await client.vectorStores.files.delete(file_id, { vector_store_id: store });
    expect(await search(store, "sentence tides")).toEqual([]);
    await expect(client.vectorStores.files.retrieve(file_id, { vector_store_id: store })).rejects.toMatchObject({
      status: 404,
    });
    expect((await client.files.retrieve(file_id)).id).toBe(file_id);
  });

  test("adds batches of files, and reports those without text", async () => {
    const good = await upload(TIDES);
    const bad = await upload("GIF89a", "image.gif");
    const store = (await client.vectorStores.create({})).id;
    const batch = await client.vectorStores.fileBatches.createAndPoll(
      store,
      { file_ids: [good.id, bad.id], attributes: { kind: "mixed" } },
      { pollIntervalMs: 50 },
    );
    expect(batch).toMatchObject({
      object: "vector_store.files_batch",
      status: "completed",
      file_counts: { completed: 1, failed: 1, total: 2 },
    });
    const files = await client.vectorStores.fileBatches.listFiles(batch.id, { vector_store_id: store, order: "asc" });
    expect(files.data.map(({ id, status, attributes }) => [id, status, attributes])).toEqual([
      [good.id, "completed", { kind: "mixed" }],
      [bad.id, "failed", { kind: "mixed" }],
    ]);
    expect(files.data[1]?.last_error).toMatchObject({ code: "unsupported_file" });
    const wrong = await client.files.create({ file: await toFile(Buffer.from("{}"), "a.jsonl"), purpose: "batch" });
    await expect(client.vectorStores.files.create(store, { file_id: wrong.id })).rejects.toMatchObject({
      status: 400,
      param: "file_id",
    });
  });

  test("cancels a batch, and keeps files beyond the project's limit out", async () => {
    embedder.isPaused = true;
    const { id: file_id } = await upload(ANIMALS);
    const store = (await client.vectorStores.create({})).id;
    const { id } = await client.vectorStores.fileBatches.create(store, { file_ids: [file_id] });
    const cancelled = await client.vectorStores.fileBatches.cancel(id, { vector_store_id: store });
    embedder.isPaused = false;
    expect(cancelled).toMatchObject({ status: "cancelled", file_counts: { cancelled: 1 } });
    const large = await upload(Array.from({ length: 60_000 }, (_, index) => `word${index}`).join(" "));
    const file = await client.vectorStores.files.createAndPoll(store, { file_id: large.id }, { pollIntervalMs: 50 });
    expect(file).toMatchObject({
      status: "failed",
      usage_bytes: 0,
      last_error: { code: "server_error", message: expect.stringContaining("max_vectors_per_project") },
    });
  });

  test("checks the caller of a file again before each request", async () => {
    const { projects } = administrator(service);
    const { id: project } = await projects.create({ name: "Denied" });
    const account = await projects.serviceAccounts.create(project, { name: "app" });
    const other = caller(service, account.api_key?.value);
    const lines = Array.from({ length: 1_000 }, (_, index) => `Line ${index} of the book of tides.`);
    const file = await toFile(Buffer.from(lines.join("\n")), "a.txt");
    const { id } = await other.files.create({ file, purpose: "assistants" });
    const { id: store } = await other.vectorStores.create({});
    const chunks = { max_chunk_size_tokens: 100, chunk_overlap_tokens: 0 };
    const before = embedder.requests;
    embedder.isPaused = true;
    const chunking_strategy = { type: "static", static: chunks } as const;
    await other.vectorStores.files.create(store, { file_id: id, chunking_strategy });
    await expect.poll(() => embedder.requests).toBe(before + 1);
    await projects.modelPermissions.update(project, { mode: "deny_list", model_ids: ["words"] });
    embedder.isPaused = false;
    await expect
      .poll(() => other.vectorStores.files.retrieve(id, { vector_store_id: store }))
      .toMatchObject({ status: "failed", last_error: { message: expect.stringContaining("words") } });
    expect(embedder.requests).toBe(before + 1);
  });

  test("hides a store from other projects on every operation", async () => {
    const store = await storeOf(TIDES);
    const file = (await client.vectorStores.files.list(store)).data[0]?.id ?? "";
    const { id: project } = await administrator(service).projects.create({ name: "Other" });
    const account = await administrator(service).projects.serviceAccounts.create(project, { name: "app" });
    const other = caller(service, account.api_key?.value);
    const { vectorStores: stores } = other;
    const of = { vector_store_id: store };
    const foreign = await other.files.create({ file: await toFile(Buffer.from("x y"), "x.md"), purpose: "assistants" });
    const attempts = [
      () => stores.retrieve(store),
      () => stores.update(store, { name: "Mine" }),
      () => stores.search(store, { query: "tide" }),
      () => stores.files.create(store, { file_id: foreign.id }),
      () => stores.files.list(store),
      () => stores.files.retrieve(file, of),
      () => stores.files.update(file, { ...of, attributes: {} }),
      () => stores.files.content(file, of),
      () => stores.files.delete(file, of),
      () => stores.fileBatches.create(store, { file_ids: [foreign.id] }),
      () => stores.fileBatches.retrieve("vsfb_x", of),
      () => stores.fileBatches.cancel("vsfb_x", of),
      () => stores.fileBatches.listFiles("vsfb_x", of),
      () => stores.delete(store),
      () => stores.create({ file_ids: [file] }),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ status: 404 });
    expect((await stores.list()).data).toEqual([]);
    expect((await client.vectorStores.retrieve(store)).name).toBe("Test");
  });

  test("removes a deleted file from its stores, and bills what was embedded", async () => {
    const before = await embeddedTokens();
    const store = await storeOf(TIDES);
    await expect.poll(embeddedTokens).toBeGreaterThan(before);
    const file = (await client.vectorStores.files.list(store)).data[0]?.id ?? "";
    await client.files.delete(file);
    expect((await client.vectorStores.retrieve(store)).file_counts.total).toBe(0);
    expect(await search(store, "tide")).toEqual([]);
  });

  async function embeddedTokens(): Promise<number> {
    const start_time = Math.floor(Date.now() / 1000) - 86_400;
    const page = await administrator(service).usage.embeddings({ start_time });
    const results = page.data.flatMap((bucket) => bucket.results) as { input_tokens?: number }[];
    return results.reduce((sum, { input_tokens = 0 }) => sum + input_tokens, 0);
  }
});
