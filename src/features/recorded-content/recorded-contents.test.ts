/** Storage of recorded content, on both databases. */

import { readFile } from "node:fs/promises";
import { sql } from "kysely";
import { afterEach, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import type { RequestEntry } from "../../http/request-entry.ts";
import type { RecordingPolicy } from "../../inference/recording/recording-policy.ts";
import { RequestRecording } from "../../inference/recording/request-recording.ts";
import { Keyring } from "../../kernel/encryption/keyring.ts";
import { createLogger } from "../../kernel/logger.ts";
import { Secret } from "../../kernel/secret.ts";
import { type Database, openDatabase } from "../../storage/database.ts";
import type { PersonalContext } from "../../storage/personal-data.ts";
import { insertOrganization } from "../accounts/organizations/organization-queries.ts";
import { insertProject } from "../accounts/projects/project-queries.ts";
import { contentRetention } from "./content-retention.ts";
import { ContentSizes } from "./content-sizes.ts";
import { ContentWriter, type ContentWriterOptions } from "./content-writer.ts";
import { recordedContentData } from "./personal-data.ts";
import { insertContents } from "./recorded-content-queries.ts";
import { RecordedContents } from "./recorded-contents.ts";
import { SealedContents } from "./sealed-content.ts";
import { parseSearch } from "./search.ts";
import { SearchTokens } from "./search-tokens.ts";

const databases = useDatabases();
const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const logger = createLogger("silent");
const [first, second] = ["first-key", "second-key"].map((name) => new Secret(name.padEnd(40, "x"))) as [Secret, Secret];
const DAY = 86_400_000;
const policy: RecordingPolicy = {
  ...{ mode: "all", share: 1, keepDays: 2, maxBytes: 0, redact: [], isSearchable: true },
};
const services = { analyze: () => Promise.reject(new Error("no service")) } as never;

async function openProject(kind: (typeof DATABASE_KINDS)[number]): Promise<Database> {
  return (await openFile(kind)).database;
}

async function openFile(kind: (typeof DATABASE_KINDS)[number] = "sqlite") {
  const options = await databases.create(kind);
  const database = openDatabase(options);
  closing.push(() => database.close());
  const row = { name: "One", isDefault: 1, createdAt: 0, archivedAt: null };
  await database.run((executor) => insertOrganization(executor, { ...row, id: "org" }));
  await database.run((executor) => insertProject(executor, { ...row, id: "proj", organizationId: "org" }));
  return { database, file: options.file };
}

function open(
  database: Database,
  secrets: [Secret, ...Secret[]],
  maxBytes = 1e9,
  options: Pick<ContentWriterOptions, "onLost" | "maxHeldBytes"> = {},
) {
  const keyring = new Keyring(secrets);
  const sealed = new SealedContents(keyring, logger);
  const tokens = new SearchTokens(keyring);
  const sizes = new ContentSizes({ database, maxBytesOf: async () => maxBytes });
  const settings = { storeCompletions: true, keepCompletionsDays: 30, maxContentKilobytes: 256 };
  const recordingOf = () => policy;
  const writer = new ContentWriter({
    ...{ database, sealed, tokens, sizes, settings, services, recordingOf, logger, ...options },
  });
  const retention = contentRetention({ database, keyring, sealed, tokens, logger });
  closing.push(() => writer.close());
  closing.push(() => retention[Symbol.dispose]());
  return {
    contents: new RecordedContents({ keyring, database, sealed, tokens, sizes, writer, completions: undefined }),
    retention,
  };
}

const caller = { keyId: "key", organizationId: "org", projectId: "proj", kind: "project" } as const;

function toEntry(id: string, at: number): RequestEntry {
  return {
    ...{ id, at, organizationId: "org", projectId: "proj", keyId: "key", operation: "chat/completions" },
    ...{ model: "m", answeredBy: "m", deployment: "m", status: 200, outcome: "finished", error: null, attempts: 1 },
    ...{ queuedMilliseconds: 0, firstTokenMilliseconds: 1, durationMilliseconds: 2, promptTokens: 1, cachedTokens: 0 },
    ...{ completionTokens: 1, characters: 0, audioMilliseconds: 0, costNanoDollars: null, details: null },
  };
}

function record({ writer }: RecordedContents, id: string, text: string, at = Date.now()): void {
  const recording = new RequestRecording({ caller, policy, redact: [], guardrails: [] });
  const parts = [{ type: "text", content: text } as const];
  recording.readWith(() => ({ inputMessages: [{ role: "user", parts }], outputMessages: [] }));
  writer.record({ entry: toEntry(id, at), caller, recording, body: undefined });
}

/** Text that DEFLATE cannot shorten. */
const noise = () => Buffer.from(crypto.getRandomValues(new Uint8Array(3000))).toString("base64");
const filter = { organizationId: "org" };
const { signal: running } = new AbortController();
const idsOf = async (contents: RecordedContents, query: string) =>
  (await contents.search(filter, query, { after: undefined, limit: 100, signal: running })).entries.map(({ id }) => id);

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  test("removes the oldest content beyond the project's bytes", async () => {
    const { contents } = open(await openProject(kind), [first], 30_000);
    for (let count = 0; count < 20; count += 1) {
      record(contents, `req_${count}`, `${noise()} common`);
      await contents.writer.flush();
    }
    const left = await idsOf(contents, "common");
    expect(left.length).toBeGreaterThan(5);
    expect(left.length).toBeLessThan(15);
    expect(left[0]).toBe("req_19");
    expect(await contents.has("req_0")).toBe(false);
  });

  test("removes content when its days are over, with its words", async () => {
    const { contents, retention } = open(await openProject(kind), [first]);
    const now = Date.now();
    record(contents, "req_old", "An owl.", now - 3 * DAY);
    record(contents, "req_new", "An owl.", now);
    expect(await idsOf(contents, "owl")).toEqual(["req_new", "req_old"]);
    await retention.removeExpired(now);
    expect(await idsOf(contents, "owl")).toEqual(["req_new"]);
    expect(await contents.has("req_old")).toBe(false);
  });

  test("encrypts content of a former key again, and finds it before and after", async () => {
    const database = await openProject(kind);
    const before = open(database, [first]).contents;
    record(before, "req_1", "A wagtail.");
    await before.writer.flush();
    const { contents, retention } = open(database, [second, first]);
    expect(await idsOf(contents, "wagtail")).toEqual(["req_1"]);
    await retention.removeExpired();
    expect(await idsOf(contents, "wagtail")).toEqual(["req_1"]);
    const { contents: alone } = open(database, [second]);
    expect(await idsOf(alone, "wagtail")).toEqual(["req_1"]);
    expect(await alone.find("org", "req_1")).toMatchObject({ inputMessages: [{ parts: [{ content: "A wagtail." }] }] });
    const { contents: removed } = open(database, [first]);
    await expect(removed.find("org", "req_1")).rejects.toThrow(/cannot be decrypted/);
  });

  test("keeps content for the next attempt while the database refuses it", async () => {
    const database = await openProject(kind);
    const { contents } = open(database, [first]);
    await database.run((executor) => executor.schema.alterTable("recordedContents").renameTo("away").execute());
    record(contents, "req_1", "A plover.");
    await contents.writer.flush();
    await database.run((executor) =>
      executor.schema
        .alterTable("away" as never)
        .renameTo("recordedContents")
        .execute(),
    );
    expect(await idsOf(contents, "plover")).toEqual(["req_1"]);
  });

  test("reads all that has the words of a search, oldest first", async () => {
    const { contents } = open(await openProject(kind), [first]);
    const ids = Array.from({ length: 120 }, (_, index) => `req_${index}`);
    for (const id of ids) record(contents, id, "A common tern.");
    const found = contents.read(filter, { order: "asc", search: parseSearch("tern"), signal: running });
    expect((await Array.fromAsync(found)).map(({ entry }) => entry.id)).toEqual(ids);
  });

  test("finds the words of a time before which many others have them", async () => {
    const { contents } = open(await openProject(kind), [first]);
    const now = Date.now();
    record(contents, "req_old", "A roller.", now - DAY);
    // More than one query of the index reads.
    for (let count = 0; count < 2001; count += 1) {
      record(contents, `req_${count}`, "A roller.", now);
      if (count % 500 === 0) await contents.writer.flush();
    }
    const until = { ...filter, until: now - DAY / 2 };
    const page = await contents.search(until, "roller", { after: undefined, limit: 10, signal: running });
    expect(page).toMatchObject({ entries: [{ id: "req_old" }], next: undefined });
  });

  test("stops to search when its client leaves", async () => {
    const { contents } = open(await openProject(kind), [first]);
    for (let count = 0; count < 20; count += 1)
      record(contents, `req_${count}`, `Many gulls. ${"Sea. ".repeat(20_000)}`);
    await contents.writer.flush();
    const leaving = new AbortController();
    const reason = new Error("left");
    const page = { after: undefined, limit: 100, signal: leaving.signal };
    const searching = contents.search(filter, '"gulls many"', page);
    leaving.abort(reason);
    await expect(searching).rejects.toBe(reason);
  });

  test("removes content of a request once", async () => {
    const { contents } = open(await openProject(kind), [first]);
    record(contents, "req_1", "A grebe.");
    expect(await contents.remove({ projectId: "proj", id: "req_1" })).toBe(1);
    expect(await contents.remove({ projectId: "proj", id: "req_1" })).toBe(0);
    expect(await idsOf(contents, "grebe")).toEqual([]);
  });
});

test("counts what a full disk loses, and records again once there is room", async () => {
  const database = await openProject("sqlite");
  const pageCount = async () => {
    const { rows } = await database.run((executor) => sql<{ pageCount: number }>`pragma page_count`.execute(executor));
    return Object.values(rows[0] ?? {})[0] ?? 0;
  };
  const allowPages = (count: number) =>
    database.run((executor) => sql.raw(`pragma max_page_count = ${count}`).execute(executor));
  let lost = 0;
  const onLost = (requests: number) => {
    lost += requests;
  };
  const { contents } = open(database, [first], 1e9, { onLost, maxHeldBytes: 20_000 });
  // SQLITE_FULL, as without room on the disk.
  await allowPages(await pageCount());
  for (let count = 0; count < 10; count += 1) {
    record(contents, `req_${count}`, `${noise()} common`);
    await contents.writer.flush();
  }
  expect(lost).toBeGreaterThan(2);
  expect(lost).toBeLessThan(10);
  await allowPages(1_000_000);
  await contents.writer.flush();
  // The newest remain, and what fitted into the last free pages.
  const recorded = await idsOf(contents, "common");
  expect(recorded).toHaveLength(10 - lost);
  expect(recorded.slice(0, 2)).toEqual(["req_9", "req_8"]);
});

test("leaves no token of erased content in the file of SQLite", async () => {
  const { database, file } = await openFile();
  const rowOf = (id: string, keyId: string) => ({
    ...{ id, keyId, organizationId: "org", projectId: "proj", endUser: null, completionId: null, model: null },
    ...{ at: 0, expiresAt: 1e15, bytes: 1, content: Buffer.from("x") },
  });
  const contents = [
    { ...rowOf("req_1", "erased"), tokens: ["qqerasedtoken"] },
    { ...rowOf("req_2", "other"), tokens: ["zzothertoken"] },
  ];
  for (const content of contents)
    await database.transaction((executor) => insertContents(executor, "sqlite", [content]));
  const stored = async () => {
    await database.emptyLog();
    const text = await readFile(file, "latin1");
    return ["qqerasedtoken", "zzothertoken"].filter((token) => text.includes(token));
  };
  expect(await stored()).toEqual(["qqerasedtoken", "zzothertoken"]);
  const identifiers = { user: [], key: [], caller: ["erased"], email: [], endUser: [] };
  const person = { organizationId: "org", pseudonym: "nobody", quotations: [], identifiers };
  expect(await recordedContentData.recordedContents.rows[0].erase?.({ database } as PersonalContext, person)).toBe(1);
  expect(await stored()).toEqual(["zzothertoken"]);
});
