import { expect, test } from "vitest";
import { InMemoryCounters } from "../../counters/in-memory-counters.ts";
import { SelfServiceLimit } from "./self-service-limit.ts";

test("limits changes of one name, and leaves those of another", async () => {
  const limit = new SelfServiceLimit(new InMemoryCounters());
  for (let change = 0; change < 100; change += 1) await limit.count("changes of a");
  await expect(limit.count("changes of a")).rejects.toMatchObject({
    kind: "request-rate-limited",
    code: "too_many_attempts",
    retryAfterSeconds: expect.any(Number),
  });
  await limit.count("changes of b");
  await limit.count("sign-ins of a");
});
