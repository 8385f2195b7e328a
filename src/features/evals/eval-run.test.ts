import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { evalRow, evalRunRow } from "../../../test/support/service/eval-rows.ts";
import { eventually } from "../../../test/support/service/eventually.ts";
import { DAY_MS } from "../../kernel/durations.ts";
import { createLogger } from "../../kernel/logger.ts";
import { openDatabase } from "../../storage/database.ts";
import type { EvalDefinition } from "../../wire/openai/evals/evals.ts";
import { insertOrganization } from "../accounts/organizations/organization-queries.ts";
import { insertProject } from "../accounts/projects/project-queries.ts";
import { RunRefused } from "./eval-faults.ts";
import { insertEval, insertRun } from "./eval-queries.ts";
import { type EvalRunOptions, runEval } from "./eval-run.ts";
import { RefusedRuns } from "./refused-runs.ts";

const named = { name: "a", isDefault: 0, createdAt: 0, archivedAt: null };
const caller = { keyId: "key_a", organizationId: "org_a", projectId: "proj_a", kind: "project" } as const;
const answer = { requestId: "req_a", shouldRetry: true, costNanoDollars: null, usage: undefined };
const CHAT = JSON.stringify({ choices: [{ message: { content: "0.5" }, finish_reason: "stop" }] });
const REFUSAL = JSON.stringify({ error: { message: "Rate limit reached." } });

let cleanup = new AsyncDisposableStack();
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(async () => {
  vi.useRealTimers();
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

const score: EvalDefinition["testingCriteria"][number] = {
  ...{ type: "score_model", name: "score", model: "judge", range: [0, 1], pass_threshold: 0.5 },
  input: [{ role: "user", content: "judge" }],
};

/** A run of five rows, whose model is asked with their number. Messages of `refused` get a 429. */
async function open(refused: Set<string>, testingCriteria: EvalDefinition["testingCriteria"] = []) {
  const database = openDatabase({ url: undefined, file: ":memory:", logger: createLogger("silent") });
  cleanup.defer(() => database.close());
  const run = { ...evalRunRow(), leaseId: "lease_a" };
  await database.run(async (executor) => {
    await insertOrganization(executor, { ...named, id: "org_a" });
    await insertProject(executor, { ...named, id: "proj_a", organizationId: "org_a" });
    await insertEval(executor, evalRow());
    await insertRun(executor, run);
  });
  const sent: string[] = [];
  const nobody = { organizationId: null, authorKeyId: null, endUser: null };
  const options: EvalRunOptions = {
    ...{ database, run, refusedRuns: new RefusedRuns(), seal: () => Buffer.alloc(1) },
    definition: { dataSourceConfig: { type: "custom", item_schema: {} }, testingCriteria },
    source: {
      ...{ type: "completions", model: "m", source: { type: "file_content", content: [] } },
      input_messages: { type: "template", template: [{ role: "user", content: "{{item.number}}" }] },
    },
    rows: { count: 5, read: async (position) => ({ item: { number: `${position}` }, ...nobody }) },
    storedBytes: { add: () => {}, checkRoom: async () => {} },
    calls: {
      callerOf: async () => caller,
      signal: new AbortController().signal,
      requests: {
        run: async ({ body }) => {
          const { messages } = JSON.parse(Buffer.from(body ?? []).toString()) as { messages: { content: string }[] };
          const content = messages[0]?.content ?? "";
          sent.push(content);
          return refused.has(content)
            ? { ...answer, status: 429, body: REFUSAL, retryAfterSeconds: 0 }
            : { ...answer, status: 200, body: CHAT, retryAfterSeconds: undefined };
        },
      },
    },
  };
  const read = async () => ({
    run: await database.run((executor) => executor.selectFrom("evalRuns").selectAll().executeTakeFirstOrThrow()),
    items: await database.run((executor) =>
      executor.selectFrom("evalItems").select(["position", "status"]).orderBy("position").execute(),
    ),
  });
  return { options, sent, read };
}

const countOf = (sent: readonly string[], content: string) => sent.filter((each) => each === content).length;
const pass = (position: number) => ({ position, status: "pass" });

test("leaves its place when all rows have waited for a minute, and asks no graded row again", async () => {
  const refused = new Set(["2", "3", "4"]);
  const { options, sent, read } = await open(refused);
  const paused = runEval(options);
  // More often than a request that fails.
  await eventually(() => expect(countOf(sent, "4")).toBeGreaterThan(7));
  vi.setSystemTime(Date.now() + 61_000);
  expect(await paused).toEqual({ retryAfterMs: 5_000 });
  expect(await read()).toMatchObject({ run: { endedAt: null, total: 5 }, items: [pass(0), pass(1)] });
  refused.clear();
  expect(await runEval(options)).toBe("over");
  expect(await read()).toMatchObject({ run: { status: "completed" }, items: [0, 1, 2, 3, 4].map(pass) });
  expect([countOf(sent, "0"), countOf(sent, "1")]).toEqual([1, 1]);
});

test("asks for no sample again whose grader was refused, and begins no further row meanwhile", async () => {
  const { options, sent, read } = await open(new Set(["judge"]), [score]);
  const paused = runEval(options);
  await eventually(() => expect(countOf(sent, "judge")).toBeGreaterThan(3));
  vi.setSystemTime(Date.now() + 61_000);
  expect(await paused).toEqual({ retryAfterMs: 5_000 });
  const { items } = await read();
  expect(items).toEqual([0, 1, 2, 3].map((position) => ({ position, status: "error" })));
  expect(["0", "1", "2", "3", "4"].map((row) => countOf(sent, row))).toEqual([1, 1, 1, 1, 0]);
});

test("fails when no further row was graded for a day", async () => {
  const { options, sent, read } = await open(new Set(["1", "2", "3", "4"]));
  const pausedAfter = async (ms: number) => {
    const before = countOf(sent, "4");
    vi.setSystemTime(Date.now() + ms);
    const paused = runEval(options);
    paused.catch(() => {});
    await eventually(() => expect(countOf(sent, "4")).toBeGreaterThan(before));
    vi.setSystemTime(Date.now() + 61_000);
    return paused;
  };
  expect(await pausedAfter(0)).toEqual({ retryAfterMs: 5_000 });
  expect(await pausedAfter(DAY_MS / 2)).toEqual({ retryAfterMs: 5_000 });
  const failing = pausedAfter(DAY_MS / 2);
  await expect(failing).rejects.toThrow(RunRefused);
  await expect(failing).rejects.toThrow("within 24 hours, because requests were refused. The last refusal: Rate limit");
  expect((await read()).items).toEqual([pass(0)]);
});
