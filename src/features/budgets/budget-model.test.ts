/** Random budgets, requests, days and restarts: what is admitted and counted equals a plain model. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { useDatabases } from "../../../test/support/databases/databases.ts";
import type { Caller } from "../../contracts/caller.ts";
import { InMemoryCounters } from "../../counters/in-memory-counters.ts";
import { createLogger } from "../../kernel/logger.ts";
import { NO_USAGE } from "../../kernel/usage.ts";
import { type Database, openDatabase } from "../../storage/database.ts";
import type { ApiKeyRow } from "../accounts/account-rows.ts";
import type { UserRow } from "../accounts/people-rows.ts";
import { CompletionEstimates } from "../quota/completion-estimates.ts";
import { SPEND_SUBJECTS } from "../quota/spend-bound.ts";
import { SpendLimits } from "../quota/spend-limits.ts";
import { SPEND_PERIODS, spendWindow } from "../quota/spend-window.ts";
import { type UsageLabel, UsageRows } from "../usage/usage-batch.ts";
import { writeUsage } from "../usage/usage-queries.ts";
import { UsageReports } from "../usage/usage-report.ts";
import { type ApplicableBudget, budgetsOfKey } from "./applicable-budget.ts";
import type { BudgetRow } from "./budget-rows.ts";
import { spendBounds } from "./spend-bounds.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A cent per token. */
const TOKEN_NANO_DOLLARS = 1e7;
/** Saturday before the end of a month and of a leap year's February. */
const START = Date.UTC(2028, 1, 26, 20);

/** Keys with their project and user. */
const KEYS = [
  { id: "key_1", projectId: "proj_1", userId: "user_1" },
  { id: "key_2", projectId: "proj_2", userId: "user_1" },
  { id: "key_3", projectId: "proj_1", userId: null },
] as const;
const IDS: Readonly<Record<(typeof SPEND_SUBJECTS)[number], readonly string[]>> = {
  organization: [],
  project: ["proj_1", "proj_2"],
  api_key: ["key_1", "key_2", "key_3"],
  user: ["user_1"],
  end_user: ["ada", "bob"],
  tag: ["red", "blue"],
};

const databases = useDatabases();
const USAGE_TABLES = ["usageRollups", "usageLabelRollups"] as const;

const USER: UserRow = {
  ...{ id: "user_1", organizationId: "org", email: "ada@example.com", name: "Ada", role: "reader", addedAt: 0 },
  ...{ disabledAt: null, lastActiveAt: null, isScimManaged: 0 },
};

const budgetArbitrary = fc.record({
  subject: fc.constantFrom(...SPEND_SUBJECTS),
  place: fc.nat(3),
  projectId: fc.constantFrom(null, null, "proj_1"),
  period: fc.constantFrom(...SPEND_PERIODS),
  thresholdCents: fc.integer({ min: 1, max: 40 }),
  isEnforcing: fc.boolean(),
  startDays: fc.integer({ min: -2, max: 3 }),
});

const stepArbitrary = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("request" as const),
      key: fc.nat(KEYS.length - 1),
      endUser: fc.option(fc.constantFrom(...IDS.end_user), { nil: undefined }),
      tags: fc.subarray([...IDS.tag]),
      maxTokens: fc.integer({ min: 1, max: 12 }),
      usedTokens: fc.nat(12),
    }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("end" as const) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("wait" as const), hours: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("restart" as const) }) },
);

function toRow(
  budget: typeof budgetArbitrary extends fc.Arbitrary<infer Drawn> ? Drawn : never,
  index: number,
): BudgetRow {
  const { subject, place, period, startDays } = budget;
  return {
    ...{ id: `budget_${index}`, organizationId: "org", kind: "budget", name: null, subject, period },
    projectId: budget.projectId,
    // Beyond the list: each one for itself.
    subjectId: IDS[subject][place] ?? null,
    thresholdCents: budget.thresholdCents,
    isEnforcing: Number(budget.isEnforcing),
    startsAt: period === "total" ? Math.floor(START / DAY_MS + startDays) * DAY_MS : 0,
    ...{ alertPercents: "[]", recipients: "[]", subjectPrefix: null, createdAt: 0, updatedAt: 0 },
  };
}

/** Names of windows, computed differently than in the service. */
function windowName(period: string, time: number): string {
  const date = new Date(time);
  if (period === "total") return "";
  if (period === "month") return date.toISOString().slice(0, 7);
  if (period === "week") while (date.getUTCDay() !== 1) date.setUTCDate(date.getUTCDate() - 1);
  return date.toISOString().slice(0, 10);
}

interface ModelRequest {
  key: (typeof KEYS)[number];
  endUser: string | undefined;
  tags: readonly string[];
  startedAt: number;
  cents: number;
}

/** Whether a request counts in the sum of this budget and subject. */
function counts(budget: BudgetRow, subjectId: string, request: ModelRequest): boolean {
  const { key, endUser, tags, startedAt } = request;
  if (budget.projectId !== null && budget.projectId !== key.projectId) return false;
  if (budget.period === "total" && startedAt < budget.startsAt) return false;
  const subjects = {
    ...{ organization: ["org"], project: [key.projectId], api_key: [key.id], user: [key.userId] },
    ...{ end_user: [endUser], tag: tags },
  };
  return (subjects[budget.subject] as unknown[]).includes(subjectId);
}

function sumOf(budget: BudgetRow, subjectId: string, at: number, requests: readonly ModelRequest[]): number {
  const name = windowName(budget.period, at);
  const counted = requests.filter((each) => counts(budget, subjectId, each));
  return counted
    .filter((each) => windowName(budget.period, each.startedAt) === name)
    .reduce((sum, { cents }) => sum + cents, 0);
}

async function addKeys(database: Database): Promise<void> {
  const parent = { name: "", isDefault: 0, createdAt: 0, archivedAt: null };
  const projects = IDS.project.map((id) => ({ ...parent, id, organizationId: "org" }));
  const keys = KEYS.map((key) => ({
    ...{ ...key, organizationId: "org", kind: "project", name: key.id, keyHash: key.id, redactedValue: "" },
    ...{ isFixed: 0, createdAt: 0 },
  })) as unknown as ApiKeyRow[];
  await database.run(async (executor) => {
    await executor
      .insertInto("organizations")
      .values({ ...parent, id: "org" })
      .execute();
    await executor.insertInto("projects").values(projects).execute();
    await executor.insertInto("users").values(USER).execute();
    await executor.insertInto("apiKeys").values(keys).execute();
  });
}

test.each([
  ["sqlite", 100],
  ["postgresql", 20],
] as const)("admits and counts on %s exactly what a plain model does", async (kind, numRuns) => {
  let [admitted, refused, batches] = [0, 0, 0];
  const logger = createLogger("silent");
  await using cleanup = new AsyncDisposableStack();
  const database = openDatabase({ ...(await databases.create(kind)), logger });
  cleanup.defer(() => database.close());
  await addKeys(database);
  const property = fc.asyncProperty(
    fc.array(budgetArbitrary, { minLength: 1, maxLength: 4 }),
    fc.array(stepArbitrary, { minLength: 5, maxLength: 40 }),
    async (drawn, steps) => {
      const budgets = drawn.map(toRow);
      await using closing = new AsyncDisposableStack();
      await database.run(async (executor) => {
        for (const table of USAGE_TABLES) await executor.deleteFrom(table).execute();
      });
      const reports = new UsageReports(database);
      const budgetsOf = (caller: Caller): ApplicableBudget[] => {
        const key = KEYS.find(({ id }) => id === caller.keyId) ?? KEYS[0];
        return budgetsOfKey(budgets, { ...key, organizationId: "org" });
      };
      const sources = { spendLimitsOf: () => [], budgetsOf, summedLabel: (_id: string, label: UsageLabel) => label };
      const start = () => {
        const counters = new InMemoryCounters();
        closing.defer(() => counters.close());
        return new SpendLimits({
          ...{ counters, logger, estimates: new CompletionEstimates(), onRefused: () => {} },
          boundsOf: (...request) => spendBounds(sources, ...request),
          spentIn: (scope, window) => reports.spentIn(scope, window),
        });
      };
      let limits = start();
      let now = START;
      const requests: ModelRequest[] = [];
      const open: (() => Promise<void>)[] = [];
      for (const step of steps) {
        if (step.type === "wait") now += step.hours * HOUR_MS;
        if (step.type === "end") await open.shift()?.();
        if (step.type === "restart") {
          for (const end of open.splice(0)) await end();
          limits = start();
        }
        if (step.type !== "request") continue;
        const key = KEYS[step.key] ?? KEYS[0];
        const { endUser, tags, maxTokens } = step;
        const startedAt = now;
        const caller: Caller = {
          ...{ kind: "project", organizationId: "org", projectId: key.projectId, keyId: key.id },
          ...(key.userId !== null && { userId: key.userId }),
          labels: { endUser, tags },
        };
        const request: ModelRequest = { key, endUser, tags, startedAt, cents: maxTokens };
        const expected = budgets.every((budget) => {
          const subjects = [...IDS[budget.subject], "org"].filter((id) => counts(budget, id, request));
          const own = subjects.filter((id) => budget.subjectId === null || budget.subjectId === id);
          const fits = (id: string) => sumOf(budget, id, startedAt, [...requests, request]) <= budget.thresholdCents;
          return budget.isEnforcing === 0 || own.every(fits);
        });
        const upperBound = { promptTokens: 0, completionTokens: maxTokens, audioBytes: 0, characters: 0 };
        const charges = () => [{ price: { completion: "0.01" }, factors: [] }];
        const claim = { model: "m", catalogId: "m", operation: "chat" as const, charges, startedAt };
        const reserving = Promise.resolve(limits.reserve({ caller, ...claim, upperBound: () => upperBound }));
        const reservation = await reserving.catch(() => undefined);
        expect(reservation !== undefined).toBe(expected);
        if (reservation === undefined) {
          refused += 1;
          continue;
        }
        admitted += 1;
        requests.push(request);
        open.push(async () => {
          request.cents = Math.min(step.usedTokens, maxTokens);
          const costNanoDollars = request.cents * TOKEN_NANO_DOLLARS;
          reservation.settle({ ...NO_USAGE, completionTokens: request.cents }, costNanoDollars);
          const endOfDay = (Math.floor(startedAt / DAY_MS) + 1) * DAY_MS - 1;
          const record = {
            ...{ at: Math.min(now, endOfDay), organizationId: "org", projectId: key.projectId, keyId: key.id },
            ...{ model: "m", deployment: "d", operation: "chat" as const, promptTokens: 0, cachedTokens: 0 },
            ...{ completionTokens: request.cents, reasoningTokens: 0, characters: 0, audioMilliseconds: 0 },
            ...{
              costNanoDollars,
              labels: [...tags.map(toTag), ...(endUser === undefined ? [] : [toEndUser(endUser)])],
            },
          };
          batches += 1;
          const batch = { writer: "one", number: batches, ...UsageRows.of([record]).content };
          await database.transaction((transaction) => writeUsage(transaction, [batch], now));
        });
      }
      for (const end of open) await end();
      // The sums of the database, from which a process starts, are the model's.
      for (const budget of budgets) {
        for (const request of requests) {
          for (const id of [...IDS[budget.subject], "org"].filter((each) => counts(budget, each, request))) {
            const { organizationId, projectId, subject, period, startsAt } = budget;
            const window = spendWindow(period, request.startedAt, startsAt);
            const spent = await reports.spentIn({ organizationId, projectId, subject, id }, window);
            expect(spent).toBe(sumOf(budget, id, request.startedAt, requests) * TOKEN_NANO_DOLLARS);
            const top = await reports.topSpenders({ organizationId, projectId, subject }, window, {
              ...{ minNanoDollars: 0, limit: 10 },
            });
            expect(top.find((each) => each.id === id)?.spent).toBe(spent);
          }
        }
      }
    },
  );
  await fc.assert(property, { numRuns, seed: 1 });
  // The generated budgets neither admit nor refuse nearly everything.
  expect(Math.min(admitted, refused) / (admitted + refused)).toBeGreaterThan(0.1);
});

const toTag = (value: string) => ({ kind: "tag" as const, value });
const toEndUser = (value: string) => ({ kind: "end_user" as const, value });
