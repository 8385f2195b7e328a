import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLogger } from "../../../kernel/logger.ts";
import { ApiKeyCache } from "./api-key-cache.ts";
import type { KeyRecord, KeySource } from "./cached-key.ts";

const RECORD: KeyRecord = {
  caller: { kind: "project", keyId: "key_a", organizationId: "org_a", projectId: "proj_a" } as KeyRecord["caller"],
  expiresAt: undefined,
  permissions: [],
  rateLimits: [],
  spendLimits: [],
  budgets: [],
  moderation: undefined,
  guardrails: [],
  recording: undefined,
  serviceTiers: undefined,
  retention: "none",
  disabledTools: [],
  pronunciations: [],
  transcriptionKeywords: [],
};

/** A database that answers polls after `pollMs` and knows the key until it is revoked. */
class SlowSource implements KeySource {
  readonly kind = "sqlite";
  pollMs = 0;
  polls = 0;
  loads = 0;
  isRevoked = false;
  /** Whether it fails between the answer to a poll and the read of the keys. */
  isFailing = false;
  /** Called during the next read of keys. */
  onLoad: (() => Promise<void>) | undefined;

  async readVersion(): Promise<number> {
    this.polls += 1;
    const version = this.isRevoked ? 2 : 1;
    await new Promise((answer) => setTimeout(answer, this.pollMs));
    return version;
  }

  async load(hashes: readonly string[]): Promise<ReadonlyMap<string, KeyRecord>> {
    if (this.isFailing) throw new Error("terminating connection due to administrator command");
    this.loads += 1;
    const { onLoad, isRevoked } = this;
    this.onLoad = undefined;
    await onLoad?.();
    return new Map(isRevoked ? [] : hashes.map((hash) => [hash, RECORD]));
  }
}

let source: SlowSource;
let cache: ApiKeyCache;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  source = new SlowSource();
  cache = new ApiKeyCache({ source, logger: createLogger("silent"), graceSeconds: 0 });
});
afterEach(() => void vi.useRealTimers());

const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

/** Lets the time pass that a poll takes. */
async function find(): Promise<unknown> {
  const result = cache.find("a");
  await pass(source.pollMs);
  return result;
}

test("uses the result of a poll that takes longer than keys stay fresh", async () => {
  source.pollMs = 1_100;
  expect(await find()).toMatchObject({ caller: { keyId: "key_a" } });
  // Cached and stale.
  await pass(1_000);
  expect(await find()).toMatchObject({ caller: { keyId: "key_a" } });
  expect(source.polls).toBe(2);
});

test("polls again for a request that arrives late in a slow poll", async () => {
  await find();
  expect(cache.findFresh("a")).toBeDefined();
  await pass(1_000);
  expect(cache.findFresh("a")).toBeUndefined();
  source.pollMs = 1_500;
  const early = cache.find("a");
  await pass(1_000);
  source.isRevoked = true;
  source.pollMs = 0;
  const late = cache.find("a");
  await pass(600);
  await expect(late).resolves.toBeUndefined();
  await expect(early).resolves.toBeDefined();
  expect(source.polls).toBe(3);
});

test("reads a new key of a database that is too slow for polls", async () => {
  source.pollMs = 60_000;
  source.onLoad = () => new Promise((answer) => setTimeout(answer, 5_000));
  const reading = cache.find("a");
  await pass(5_000);
  await expect(reading).resolves.toMatchObject({ caller: { keyId: "key_a" } });
});

test("says that the database is away when it does not answer at all", async () => {
  source.pollMs = 60_000;
  source.onLoad = () => new Promise(() => {});
  const refused = expect(cache.find("a")).rejects.toMatchObject({ code: "database_unavailable" });
  await pass(10_000);
  await refused;
  // Those who come later do not wait as long.
  const later = expect(cache.find("b")).rejects.toMatchObject({ code: "database_unavailable" });
  await pass(2_000);
  await later;
});

test("keeps cached keys when the database fails after a poll that found a change", async () => {
  cache = new ApiKeyCache({ source, logger: createLogger("silent"), graceSeconds: 60 });
  await find();
  source.isFailing = true;
  source.isRevoked = true;
  await pass(1_000);
  expect(await find()).toBeDefined();
  await pass(10_000);
  expect(await find()).toBeDefined();
  source.isFailing = false;
  await pass(1_000);
  // Polls in the background.
  await find();
  expect(await find()).toBeUndefined();
});

test("caches a key although accounts changed during its first read", async () => {
  cache = new ApiKeyCache({ source, logger: createLogger("silent"), graceSeconds: 60 });
  source.onLoad = () => cache.reload();
  expect(await find()).toBeDefined();
  source.isFailing = true;
  await pass(1_000);
  expect(await find()).toBeDefined();
});

test("reads once more for all changes that come while it reads", async () => {
  await find();
  const before = source.loads;
  const gate = Promise.withResolvers<void>();
  source.onLoad = () => gate.promise;
  const first = cache.reload();
  const others = Array.from({ length: 100 }, () => cache.reload());
  source.isRevoked = true;
  const last = cache.reload();
  gate.resolve();
  await Promise.all([first, ...others, last]);
  expect(source.loads - before).toBe(2);
  expect(cache.findFresh("a")).toBeUndefined();
});

test("begins another read for a change that follows the one that waited", async () => {
  await find();
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  source.onLoad = () => gates[0].promise;
  const running = cache.reload();
  const waiting = cache.reload();
  source.onLoad = () => gates[1].promise;
  gates[0].resolve();
  await running;
  await pass(0);
  source.isRevoked = true;
  const late = cache.reload();
  gates[1].resolve();
  await Promise.all([waiting, late]);
  expect(cache.findFresh("a")).toBeUndefined();
});

test("evicts all keys when those that this process changed cannot be read", async () => {
  cache = new ApiKeyCache({ source, logger: createLogger("silent"), graceSeconds: 60 });
  await find();
  expect(cache.findFresh("a")).toBeDefined();
  source.isFailing = true;
  await cache.reload();
  expect(cache.findFresh("a")).toBeUndefined();
});
