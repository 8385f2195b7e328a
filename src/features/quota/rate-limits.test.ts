import { afterEach, expect, test } from "vitest";
import { InMemoryCounters } from "../../counters/in-memory-counters.ts";
import { NO_UPPER_BOUND } from "../../inference/adapters/task-adapter.ts";
import type { QuotaClaim } from "../../inference/quota.ts";
import { createLogger } from "../../kernel/logger.ts";
import { NO_USAGE } from "../../kernel/usage.ts";
import { CompletionEstimates } from "./completion-estimates.ts";
import { limitedScopes } from "./limited-scopes.ts";
import type { Limits } from "./limits.ts";
import { RateLimits } from "./rate-limits.ts";

const caller = { kind: "project", organizationId: "org_a", projectId: "proj_a", keyId: "key_a" } as const;
const PARROT = { model: "parrot", catalogId: "parrot" };
let counters = new InMemoryCounters();
afterEach(async () => {
  await counters.close();
  counters = new InMemoryCounters();
});

/** `limits`: of all models together; `ofModel`: of each. */
function start(limits: Limits, ofModel: Limits = {}) {
  const defaults = { projectModel: ofModel, organization: limits, key: {}, user: {} };
  const quota = new RateLimits({
    counters,
    scopesOf: limitedScopes(defaults, () => []),
    estimates: new CompletionEstimates(),
    requestTimeoutSeconds: 60,
    logger: createLogger("silent"),
    onRefused: () => {},
  });
  const claim = { caller, ...PARROT, charges: () => [], startedAt: Date.now() };
  const bound = { ...NO_UPPER_BOUND, completionTokens: 10 };
  return {
    count: async (given: Partial<QuotaClaim> = {}) =>
      quota.reserve({ ...claim, operation: undefined, upperBound: () => NO_UPPER_BOUND, ...given }),
    run: async (given: Partial<QuotaClaim> = {}) =>
      quota.reserve({ ...claim, operation: "chat", upperBound: () => bound, ...given }),
  };
}

test("counts a request early by its limits of requests alone, and its run by the others", async () => {
  const { count, run } = start({ requestsPerMinute: 2, tokensPerMinute: 100, concurrentRequests: 1 });
  const first = await run();
  const { rateLimitStatus } = await count();
  const counted = { ...PARROT, rateLimitStatus };
  const { requests } = rateLimitStatus;
  expect(rateLimitStatus).toEqual({ requests: { limit: 2, remaining: 0, resetSeconds: 60 } });
  await expect(run({ counted })).rejects.toMatchObject({
    message: expect.stringContaining("concurrent requests"),
    limits: { requests, tokens: { limit: 100, remaining: 90 } },
  });
  first.settle(NO_USAGE, null);
  const adopted = await run({ counted });
  expect(adopted.rateLimitStatus).toMatchObject({ requests, tokens: { limit: 100, remaining: 90 } });
  await expect(count()).rejects.toMatchObject({ message: expect.stringContaining("requests per min") });
});

test("shows the limits of a counted request whose run has no others", async () => {
  const { count, run } = start({ requestsPerDay: 5 });
  const { rateLimitStatus } = await count();
  const counted = { ...PARROT, rateLimitStatus };
  expect((await run({ counted })).rateLimitStatus).toEqual(rateLimitStatus);
  expect((await run()).rateLimitStatus).toMatchObject({ requests: { limit: 5, remaining: 3 } });
});

test("a run of another model than the one that was counted takes that one's limit, and those of all models once", async () => {
  const { count, run } = start({ requestsPerMinute: 10 }, { requestsPerMinute: 2 });
  const other = { model: "sees", catalogId: "sees" };
  const runOther = async () => run({ ...other, counted: { ...PARROT, ...(await count()) } });
  expect((await runOther()).rateLimitStatus).toEqual({ requests: { limit: 2, remaining: 1, resetSeconds: 60 } });
  await runOther();
  await expect(run(other)).rejects.toMatchObject({ message: expect.stringContaining("sees in project proj_a") });
  await expect(count()).rejects.toMatchObject({ message: expect.stringContaining("parrot in project proj_a") });
  const third = { model: "third", catalogId: "third" };
  const counted = { ...third, ...(await count(third)) };
  expect((await run({ ...third, counted })).rateLimitStatus).toEqual(counted.rateLimitStatus);
  const all = await count({ model: undefined, catalogId: undefined });
  expect(all.rateLimitStatus.requests).toMatchObject({ limit: 10, remaining: 6 });
});

test("counts early requests of batches within their share", async () => {
  const { count } = start({ requestsPerMinute: 5 });
  for (let line = 0; line < 4; line += 1) await count({ isBatch: true });
  await expect(count({ isBatch: true })).rejects.toMatchObject({ message: expect.stringContaining("Limit 4, Used 4") });
  await count();
});
