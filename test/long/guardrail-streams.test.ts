import { test } from "vitest";
import { runRandomStreams } from "../support/guardrails/random-streams.ts";

test("10,000 streams that are cut at random bytes come back whole, and no value leaves while the analyzer is away", async () => {
  await runRandomStreams(10_000, 2026);
}, 1_800_000);
