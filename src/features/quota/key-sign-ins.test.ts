import { expect, test } from "vitest";
import { InMemoryCounters } from "../../counters/in-memory-counters.ts";
import { KeySignIns } from "./key-sign-ins.ts";

test("limits the sign-ins of a key, and leaves those of another", async () => {
  const signIns = new KeySignIns(new InMemoryCounters());
  for (let signIn = 0; signIn < 100; signIn += 1) await signIns.count("key_a");
  await expect(signIns.count("key_a")).rejects.toMatchObject({
    kind: "request-rate-limited",
    code: "too_many_attempts",
    retryAfterSeconds: expect.any(Number),
  });
  await signIns.count("key_b");
});
