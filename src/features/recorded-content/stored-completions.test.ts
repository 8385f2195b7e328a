/** Chat completions that callers stored: what is stored of them, and pages of them, on both databases. */

import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import type { RequestEntry } from "../../http/request-entry.ts";
import { RequestRecording } from "../../inference/recording/request-recording.ts";
import { Keyring } from "../../kernel/encryption/keyring.ts";
import { createLogger } from "../../kernel/logger.ts";
import { Secret } from "../../kernel/secret.ts";
import { openDatabase } from "../../storage/database.ts";
import { toStoredCompletion } from "../../wire/openai/chat/stored-completions.ts";
import { insertOrganization } from "../accounts/organizations/organization-queries.ts";
import { insertProject } from "../accounts/projects/project-queries.ts";
import { ContentSizes } from "./content-sizes.ts";
import { ContentWriter } from "./content-writer.ts";
import { SealedContents } from "./sealed-content.ts";
import { SearchTokens } from "./search-tokens.ts";
import { StoredCompletions } from "./stored-completions.ts";

const databases = useDatabases();
const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const logger = createLogger("silent");
const place = { organizationId: "org", projectId: "proj" };
const caller = { ...place, keyId: "key", kind: "project" } as const;
const services = { analyze: () => Promise.reject(new Error("no service")) } as never;

async function open(kind: (typeof DATABASE_KINDS)[number] = "sqlite", maxContentKilobytes = 256) {
  const database = openDatabase(await databases.create(kind));
  closing.push(() => database.close());
  const row = { name: "One", isDefault: 1, createdAt: 0, archivedAt: null };
  await database.run((executor) => insertOrganization(executor, { ...row, id: "org" }));
  await database.run((executor) => insertProject(executor, { ...row, id: "proj", organizationId: "org" }));
  const keyring = new Keyring([new Secret("k".repeat(40))]);
  const sealed = new SealedContents(keyring, logger);
  const tokens = new SearchTokens(keyring);
  const sizes = new ContentSizes({ database, maxBytesOf: async () => 1e9 });
  const settings = { storeCompletions: true, keepCompletionsDays: 30, maxContentKilobytes };
  const recordingOf = () => undefined;
  const writer = new ContentWriter({ database, sealed, tokens, sizes, settings, services, recordingOf, logger });
  closing.push(() => writer.close());
  const store = async (id: string, text: string, request: object = {}, redact: "pii"[] = []) => {
    const recording = new RequestRecording({ caller, policy: undefined, redact, guardrails: [] });
    recording.readWith(() => ({
      inputMessages: [{ role: "user", parts: [{ type: "text", content: text }] }],
      outputMessages: [],
    }));
    const completion = { id, created: 0, model: "m", usage: {}, metadata: { topic: "birds" }, request: { ...request } };
    await writer.store(toEntry(`req_${id}`), recording, completion);
  };
  return { store, completions: new StoredCompletions({ database, sealed, writer, logger }) };
}

function toEntry(id: string): RequestEntry {
  return {
    ...{ id, at: Date.now(), ...place, keyId: "key", operation: "chat/completions" },
    ...{ model: "m", answeredBy: "m", deployment: "m", status: 200, outcome: "finished", error: null, attempts: 1 },
    ...{ queuedMilliseconds: 0, firstTokenMilliseconds: 1, durationMilliseconds: 2, promptTokens: 1, cachedTokens: 0 },
    ...{ completionTokens: 1, characters: 0, audioMilliseconds: 0, costNanoDollars: null, details: null },
  };
}

test("masks the fields of the request that a completion repeats", async () => {
  const { store, completions } = await open();
  const tools = [{ type: "function", function: { name: "f", description: "Writes to bob@example.org." } }];
  const request = { temperature: 0, seed: 4_111_111_111_111_111, tools, service_tier: "bob@example.org" };
  await store("one", "For bob@example.org.", request, ["pii"]);
  const { completion, inputMessages } = await completions.find(place, "one");
  expect(JSON.stringify([completion, inputMessages])).not.toContain("bob@example.org");
  const { tools: stored, temperature, seed } = completion.request;
  expect(stored).toMatchObject([{ type: "function", function: { name: "f" } }]);
  expect([temperature, seed]).toEqual([0, request.seed]);
});

test("leaves the largest repeated fields out beyond the size of content, and says so", async () => {
  const { store, completions } = await open("sqlite", 4);
  const response_format = { type: "json_schema", json_schema: { name: "s", description: "x".repeat(1_000_000) } };
  const tools = [{ type: "function", function: { name: "f", description: "x".repeat(1000) } }];
  await store("large", "Hello.", { temperature: 0, response_format, tools, seed: 1 });
  await store("small", "Hello.", { temperature: 0, tools, seed: 1 });
  const large = toStoredCompletion(await completions.find(place, "large"));
  expect(large).toMatchObject({ temperature: 0, tools, seed: 1, truncated: true });
  expect(large).not.toHaveProperty("response_format");
  expect(toStoredCompletion(await completions.find(place, "small"))).not.toHaveProperty("truncated");
});

describe.each(DATABASE_KINDS)("a page on %s", (kind) => {
  const query = { after: undefined, limit: 100, order: "asc", model: undefined, metadata: [] } as const;
  const { signal: running } = new AbortController();

  test("ends before its limit where its completions are large", async () => {
    const { store, completions } = await open(kind, 4096);
    const ids = Array.from({ length: 5 }, (_, index) => `c${index}`);
    for (const id of ids) await store(id, "x".repeat(1_500_000));
    const found: string[][] = [];
    for (let after: string | undefined, hasMore = true; hasMore; ) {
      const page = await completions.list(place, { ...query, after }, running);
      found.push(page.entries.map(({ completion }) => completion.id));
      after = found.at(-1)?.at(-1);
      hasMore = page.hasMore;
    }
    expect(found.flat()).toEqual(ids);
    expect(found[0]?.length).toBe(2);
  });

  test("reads large content that cannot be compressed in several queries", async () => {
    const { store, completions } = await open(kind, 8192);
    const ids = ["c0", "c1", "c2", "c3"];
    for (const id of ids) await store(id, randomBytes(1_500_000).toString("base64"));
    const wanted = { ...query, metadata: [["topic", "birds"]] as const };
    const first = await completions.list(place, wanted, running);
    expect([first.entries.map(({ completion }) => completion.id), first.hasMore]).toEqual([["c0"], true]);
    const next = await completions.list(place, { ...wanted, after: "c2" }, running);
    expect([next.entries.map(({ completion }) => completion.id), next.hasMore]).toEqual([["c3"], false]);
    const newest = await completions.list(place, { ...wanted, order: "desc", limit: 1 }, running);
    expect(newest.entries.map(({ completion }) => completion.id)).toEqual(["c3"]);
  });

  test("lets others have their turn while nothing matches, and stops when its client leaves", async () => {
    const { store, completions } = await open(kind, 4096);
    for (let index = 0; index < 12; index += 1) await store(`c${index}`, "A gull. ".repeat(100_000));
    const unmatched = { ...query, metadata: [["topic", "fish"]] as const };
    const leaving = new AbortController();
    const reason = new Error("left");
    setImmediate(() => leaving.abort(reason));
    await expect(completions.list(place, unmatched, leaving.signal)).rejects.toBe(reason);
    expect(await completions.list(place, unmatched, running)).toEqual({ entries: [], hasMore: false });
  });
});
