import { expect, test } from "vitest";
import { InMemoryCounters } from "../../counters/in-memory-counters.ts";
import { SessionChanges } from "./session-changes.ts";

test.each(["countSignIn", "countProjectChoice"] as const)(
  "limits %s of one, and leaves those of another",
  async (count) => {
    const changes = new SessionChanges(new InMemoryCounters());
    for (let change = 0; change < 100; change += 1) await changes[count]("a");
    await expect(changes[count]("a")).rejects.toMatchObject({
      kind: "request-rate-limited",
      code: "too_many_attempts",
      retryAfterSeconds: expect.any(Number),
    });
    await changes[count]("b");
  },
);
