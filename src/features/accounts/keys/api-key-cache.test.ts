import { setTimeout as pause } from "node:timers/promises";
import { beforeEach, expect, test, vi } from "vitest";
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
};

/** A database that answers polls after `pollMs` and knows the key until it is revoked. */
class SlowSource implements KeySource {
  readonly kind = "sqlite";
  pollMs = 0;
  polls = 0;
  isRevoked = false;

  async readVersion(): Promise<number> {
    this.polls += 1;
    const version = this.isRevoked ? 2 : 1;
    await pause(this.pollMs);
    return version;
  }

  async load(hashes: readonly string[]): Promise<ReadonlyMap<string, KeyRecord>> {
    return new Map(this.isRevoked ? [] : hashes.map((hash) => [hash, RECORD]));
  }
}

let source: SlowSource;
let cache: ApiKeyCache;
beforeEach(() => {
  source = new SlowSource();
  cache = new ApiKeyCache({ source, logger: createLogger("silent"), graceSeconds: 0 });
});

test("uses the result of a poll that takes longer than keys stay fresh", async () => {
  source.pollMs = 1_100;
  await expect(cache.find("a")).resolves.toMatchObject({ caller: { keyId: "key_a" } });
  // Cached and stale.
  await pause(1_000);
  await expect(cache.find("a")).resolves.toMatchObject({ caller: { keyId: "key_a" } });
});

test("polls again for a request that arrives late in a slow poll", async () => {
  await cache.find("a");
  await vi.waitFor(() => expect(cache.findFresh("a")).toBeUndefined(), { timeout: 2_000 });
  source.pollMs = 1_500;
  await pause(1_000);
  const early = cache.find("a");
  await pause(1_000);
  source.isRevoked = true;
  source.pollMs = 0;
  await expect(cache.find("a")).resolves.toBeUndefined();
  await expect(early).resolves.toBeDefined();
  expect(source.polls).toBe(3);
});
