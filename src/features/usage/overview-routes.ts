import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import type { Catalog } from "../../catalog/catalog.ts";
import { listPools } from "../../catalog/deployment-status.ts";
import type { Caller } from "../../contracts/caller.ts";
import type { Deployment } from "../../deployments/deployment.ts";
import { allows } from "../../http/access.ts";
import { operation, routes } from "../../http/operation.ts";
import { MINUTE_MS } from "../../kernel/durations.ts";
import { growingCache } from "../../kernel/growing-cache.ts";
import {
  type OverviewMinute,
  percentilesOf,
  type ShownDeployment,
  type ShownSpendLimit,
  toOverview,
} from "../../wire/openai/organization/organization-overview.ts";
import { Overview } from "../../wire/openapi/usage-answers.ts";
import type { Accounts } from "../accounts/index.ts";
import type { MinuteSum, RequestHistory } from "./request-history.ts";
import type { UsageReports } from "./usage-report.ts";
import { type Visibility, visibilityOf } from "./visibility.ts";

export interface OverviewParts {
  accounts: Accounts;
  history: RequestHistory;
  reports: UsageReports;
  catalog: Pick<Catalog, "models">;
}

const MINUTE = MINUTE_MS;
const HOUR = 60 * MINUTE;
/** Replicas write the end of a minute late. */
const SETTLED_AFTER = 10_000;

/** Time of the present rate of tokens. */
const RECENT_MS = 15_000;

/** An answer reads thousands of rows, which block the event loop with SQLite, so that a key gets one a second. */
const SHARED_MS = 1000;
const MAX_SHARED = 1000;

/** GET /v1/organization/overview. A project key sees its own project. */
export function overview({ accounts, history, reports, catalog }: OverviewParts): FastifyPluginAsync {
  const hours = new RecentHours(history);
  const shared = growingCache<Promise<ReturnType<typeof toOverview>>>(MAX_SHARED, { ttlMs: SHARED_MS });
  return routes(
    operation(
      "GET /overview",
      {
        summary:
          "Sums the last hour by minute, with spend and the state of deployments. A project key sees its own project. Not in OpenAI's API.",
        tag: "Reports",
        permission: "admin-or-project",
        requires: "signed-in",
        answer: Overview,
      },
      ({ caller, request }) => {
        const reader = readerOf(caller);
        const entry = shared.get(reader);
        if (entry !== undefined) return entry;
        const answer = read(request);
        shared.set(reader, answer);
        answer.catch(() => shared.delete(reader));
        return answer;
      },
    ),
  );

  async function read(request: FastifyRequest) {
    const { caller } = request;
    const now = Date.now();
    const visibility = visibilityOf(caller);
    const filter = { organizationId: caller.organizationId, visibility };
    const scopeId = caller.projectId ?? caller.organizationId;
    const day = Math.floor(now / (24 * HOUR)) * 24 * HOUR;
    const tomorrow = day + 24 * HOUR;
    const month = { from: Date.UTC(new Date(now).getUTCFullYear(), new Date(now).getUTCMonth()), until: tomorrow };
    const spendLimits: ShownSpendLimit[] = [];
    for (const limit of accounts.callers.policyOf(caller, "spendLimits")) {
      const { scopeId: limited } = limit;
      const spentNanoDollars = maySeeSpend(caller, limited, visibility)
        ? await reports.spentIn({ ...caller, projectId: null, subject: scopeOf(caller, limited), id: limited }, month)
        : undefined;
      spendLimits.push({ ...limit, scope: scopeOf(caller, limited), spentNanoDollars });
    }
    const maySee = await maySeeDeployments(accounts, caller);
    return toOverview({
      now,
      minutes: await hours.read(filter, now),
      firstTokens: percentilesOf(await history.firstTokenTimes(filter, { from: now - HOUR, until: now })),
      tokensPerSecond: (await hours.recentTokens(filter, now)) / (RECENT_MS / 1000),
      spentTodayNanoDollars: await reports.spentBetween(caller, scopeId, { from: day, until: tomorrow, visibility }),
      spentThisMonthNanoDollars: await reports.spentBetween(caller, scopeId, { ...month, visibility }),
      spendLimits,
      deployments: maySee ? deploymentsOf(catalog) : undefined,
      pools: maySee ? [...listPools(catalog)] : undefined,
    });
  }
}

/** Key and permissions: an answer of before a change of roles is not shown after it. */
function readerOf(caller: Caller): string {
  const { keyId, kind, organizationId, projectId, access } = caller;
  return JSON.stringify([
    ...[keyId, kind, organizationId, projectId],
    visibilityOf(caller),
    allows(access, "organization.read"),
  ]);
}

/** The spend of a project or organization shows what others use. */
function maySeeSpend({ kind, organizationId, projectId }: Caller, scopeId: string, visibility: Visibility | undefined) {
  if (scopeId === organizationId) return kind === "admin" && visibility === undefined;
  return scopeId !== projectId || visibility === undefined || visibility.projectIds.includes(scopeId);
}

function scopeOf({ organizationId, projectId }: Caller, limited: string): ShownSpendLimit["scope"] {
  if (limited === organizationId) return "organization";
  return limited === projectId ? "project" : "api_key";
}

/** Deployments belong to the installation, and reasons for failures contain paths. */
async function maySeeDeployments(accounts: Accounts, caller: Caller): Promise<boolean> {
  const { kind, organizationId, access } = caller;
  return (
    kind === "admin" && allows(access, "organization.read") && (await accounts.organizations.isDefault(organizationId))
  );
}

function deploymentsOf(catalog: Pick<Catalog, "models">): ShownDeployment[] {
  return [...catalog.models].flatMap(({ id, task, deployments }) =>
    deployments.map((each) => toShownDeployment(id, task, each)),
  );
}

function toShownDeployment(model: string, task: string, deployment: Deployment): ShownDeployment {
  const { name, engine, host, state, circuits, memoryBytes, gpuBytes, loadSeconds, loadedAt, slots } = deployment;
  return {
    ...{ model, task, deployment: name, engine, host, memoryBytes, gpuBytes, loadSeconds, loadedAt },
    state: state.state,
    reason: state.state === "up" ? undefined : state.reason,
    circuit: circuits.state,
    device: state.state === "up" ? state.device : undefined,
    restartedAt: state.state === "up" ? state.restartedAt : undefined,
    slots: slots.count,
    slotsInUse: slots.inUse,
    waiting: slots.waiting,
    firstTokenSeconds: deployment.latency.seconds,
  };
}

interface HourFilter {
  organizationId: string;
  visibility: Visibility | undefined;
}

/** Sums of the last hour, of which only the minutes that can still change are read again. */
class RecentHours {
  readonly #history: RequestHistory;
  readonly #minutes = new Map<string, { sums: OverviewMinute[]; settledUntil: number }>();

  constructor(history: RequestHistory) {
    this.#history = history;
  }

  async read(filter: HourFilter, now: number): Promise<OverviewMinute[]> {
    const key = JSON.stringify([filter.organizationId, filter.visibility]);
    const from = Math.floor(now / MINUTE) * MINUTE - 59 * MINUTE;
    const bucket = this.#minutes.get(key);
    const sums = (bucket?.sums ?? []).filter(
      ({ beginsAt }) => beginsAt >= from && beginsAt < (bucket?.settledUntil ?? 0),
    );
    const unsettled = new Map<number, MinuteSum>();
    const end = from + 60 * MINUTE;
    for await (const part of this.#history.minutes(filter, Math.max(from, bucket?.settledUntil ?? 0), end)) {
      unsettled.set(part.beginsAt, addMinutes(part, unsettled.get(part.beginsAt)));
    }
    for (const minute of unsettled.values()) {
      const range = { from: minute.beginsAt, until: minute.beginsAt + MINUTE };
      sums.push({ ...minute, firstTokens: percentilesOf(await this.#history.firstTokenTimes(filter, range)) });
    }
    const settledUntil = Math.floor((now - SETTLED_AFTER) / MINUTE) * MINUTE;
    this.#minutes.set(key, { sums, settledUntil });
    return sums;
  }

  /** Completion tokens of answers that ended within `RECENT_MS`. */
  async recentTokens(filter: HourFilter, now: number): Promise<number> {
    let tokens = 0;
    for await (const { completionTokens } of this.#history.minutes(filter, now - RECENT_MS, now)) {
      tokens += completionTokens;
    }
    return tokens;
  }
}

function addMinutes(minute: MinuteSum, other: MinuteSum | undefined): MinuteSum {
  if (other === undefined) return minute;
  return {
    beginsAt: minute.beginsAt,
    requests: minute.requests + other.requests,
    errors: minute.errors + other.errors,
    promptTokens: minute.promptTokens + other.promptTokens,
    completionTokens: minute.completionTokens + other.completionTokens,
    retries: minute.retries + other.retries,
  };
}
