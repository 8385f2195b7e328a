import { test } from "vitest";
import { runRandomStreams } from "../support/guardrails/random-streams.ts";

test("150 streams that are cut at random bytes come back whole, and no value leaves while the analyzer is away", async () => {
  await runRandomStreams(150, 34);
});
