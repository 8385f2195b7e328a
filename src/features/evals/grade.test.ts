import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Grader } from "../../wire/openai/evals/graders.ts";
import { type GraderCalls, grade, gradeByEach } from "./grade.ts";
import { SimilarityBudget } from "./similarity-budget.ts";

const callsWith = (similarities: SimilarityBudget, signal = new AbortController().signal) =>
  ({ similarities, signal }) as unknown as GraderCalls;
const grader = (metric: string) =>
  ({
    type: "text_similarity",
    name: metric,
    input: "{{item.a}}",
    reference: "{{item.b}}",
    evaluation_metric: metric,
    pass_threshold: 0.5,
  }) as Grader;
const LONG = Array.from({ length: 4000 }, (_, index) => `w${index % 997}`).join(" ");
const values = { item: { a: LONG, b: `${LONG.slice(1000)} end` } };

function ownCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

test("compares the texts of fifty graders outside this thread", async () => {
  const calls = callsWith(new SimilarityBudget("project"));
  await grade(calls, grader("rouge_l"), values);
  const startedMs = ownCpuMs();
  const graded = await Promise.all(Array.from({ length: 50 }, () => grade(calls, grader("rouge_l"), values)));
  expect(ownCpuMs() - startedMs).toBeLessThan(500);
  for (const { result } of graded) expect(result).toMatchObject({ passed: true, score: expect.closeTo(0.97, 1) });
});

test("fails graders beyond the CPU budget of their row", async () => {
  // Clocks of CPU time go by ticks of up to 10 ms: the slowest metric takes several, another one perhaps none.
  const calls = callsWith(new SimilarityBudget("project", 0.001));
  expect((await grade(calls, grader("rouge_l"), values)).result.error).toBeUndefined();
  expect((await grade(calls, grader("rouge_l"), values)).result).toMatchObject({
    passed: false,
    error: expect.stringContaining("CPU time"),
  });
});

test("stops comparing on abort", async () => {
  const stopping = new AbortController();
  const calls = callsWith(new SimilarityBudget("project"), stopping.signal);
  const grading = grade(calls, grader("fuzzy_match"), values);
  stopping.abort(new Error("the run was cancelled"));
  await expect(grading).rejects.toThrow("the run was cancelled");
});

test("refuses templates whose values have more than a million characters", async () => {
  const many = { ...grader("bleu"), input: "{{item.a}}".repeat(100) } as Grader;
  const { result } = await grade(callsWith(new SimilarityBudget("project")), many, values);
  expect(result.error).toContain("more than 1000000 characters");
});

test("refuses messages whose values together have more than a million characters", async () => {
  const content = "{{item.a}}";
  const scored = {
    ...{ type: "score_model", name: "scored", model: "judge", range: [0, 1] },
    input: Array.from({ length: 100 }, () => ({ role: "user", content })),
  } as Grader;
  const { result } = await grade(callsWith(new SimilarityBudget("project")), scored, values);
  expect(result.error).toContain("more than 1000000 characters");
});

test("asks models for few graders of a row at the same time, and lets others go on between", async () => {
  let asking = 0;
  let most = 0;
  const run = async () => {
    asking += 1;
    most = Math.max(most, asking);
    await pause(1);
    asking -= 1;
    return { status: 400, body: "{}", shouldRetry: false };
  };
  const scored = { type: "score_model", name: "scored", model: "judge", range: [0, 1], input: [] };
  const graders = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`g${index}`, scored]));
  const multi = {
    type: "multi",
    name: "all",
    graders,
    calculate_output: "g1",
    pass_threshold: 0.5,
  } as unknown as Grader;
  const caller = { kind: "project", keyId: "key_a", organizationId: "org_a", projectId: "proj_a" } as const;
  const asked = { requests: { run }, callerOf: async () => caller };
  const calls = { ...callsWith(new SimilarityBudget("project")), ...asked } as unknown as GraderCalls;
  await grade(calls, multi, values);
  expect(most).toBe(4);
  most = 0;
  await gradeByEach(calls, Object.values(graders) as unknown as Grader[], values);
  expect(most).toBe(4);
});
