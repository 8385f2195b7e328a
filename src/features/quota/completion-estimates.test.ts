import { expect, test } from "vitest";
import { CompletionEstimates } from "./completion-estimates.ts";

const callerOf = (projectId: string) => ({
  keyId: `key of ${projectId}`,
  organizationId: "org",
  projectId,
  kind: "project" as const,
});

test("learns the length of answers per project, so that one tenant's long answer does not raise another's reservation", () => {
  const estimates = new CompletionEstimates();
  const [verbose, brief] = [callerOf("verbose"), callerOf("brief")];
  estimates.learn({ caller: verbose, model: "parrot" }, 100_000);
  estimates.learn({ caller: brief, model: "parrot" }, 20);
  expect(estimates.estimate({ caller: brief, model: "parrot" })).toBe(20);
  expect(estimates.estimate({ caller: verbose, model: "parrot" })).toBe(100_000);
});
