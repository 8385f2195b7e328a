/** Projects, keys, budgets, usage and requests of a team, written into the database of a running service. */

import { join } from "node:path";
import BetterSqlite from "better-sqlite3";
import type { Service } from "../../test/support/service/service.ts";
import { SAMPLE_MODELS } from "./sample-models.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const USAGE_DAYS = 45;
const REQUESTS = 6_000;
const NANO = 1e9;

const KEYS = [
  { project: "Default project", name: "Web app", share: 0.46 },
  { project: "Support assistant", name: "Ticket triage", share: 0.27 },
  { project: "Research", name: "Notebook", share: 0.17 },
  { project: "Research", name: "Nightly evals", share: 0.1 },
] as const;
const MODEL_SHARES = [0.52, 0.19, 0.29];
const FAILURES = [
  { status: 503, error: "overloaded", outcome: "failed" },
  { status: 502, error: "upstream_error", outcome: "failed" },
  { status: 429, error: "rate_limit_exceeded", outcome: "failed" },
] as const;

/** Calls the administration API. */
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
export type Administer = (method: string, path: string, body?: unknown) => Promise<any>;

/** Returns the same numbers in every run, so that screenshots differ only where the console does. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

export async function seedUsage(service: Service, administer: Administer): Promise<void> {
  const database = new BetterSqlite(join(service.dataDirectory, "parlance.sqlite"));
  try {
    const initial = database.prepare("select id, organization_id as organization, name from projects").get() as {
      id: string;
      organization: string;
      name: string;
    };
    const projects = new Map([[initial.name, initial.id]]);
    const keys: { id: string; project: string; share: number }[] = [];
    for (const { project: name, name: keyName, share } of KEYS) {
      const project = projects.get(name) ?? (await administer("POST", "/projects", { name })).id;
      projects.set(name, project);
      const account = await administer("POST", `/projects/${project}/service_accounts`, { name: keyName });
      keys.push({ id: account.api_key?.id ?? "", project, share });
    }
    await budgets(administer, projects);
    const scope = { database, organization: initial.organization, keys };
    database.transaction(() => {
      seedRollups(scope);
      seedRequests(scope);
    })();
  } finally {
    database.close();
  }
}

async function budgets(administer: Administer, projects: ReadonlyMap<string, string>): Promise<void> {
  const budget = { subject: { type: "organization" }, interval: "month" };
  await administer("POST", "/budgets", { ...budget, name: "All projects", threshold_amount: 90_000 });
  for (const [name, amount] of [
    ["Support assistant", 24_000],
    ["Research", 17_500],
  ] as const) {
    const subject = { type: "project", id: projects.get(name) };
    await administer("POST", "/budgets", { ...budget, name, subject, threshold_amount: amount });
  }
}

interface Scope {
  database: BetterSqlite.Database;
  organization: string;
  keys: readonly { id: string; project: string; share: number }[];
}

/** Daily sums: less at weekends, growing slowly. */
function seedRollups({ database, organization, keys }: Scope): void {
  const random = generator(7);
  const dimension = database.prepare(
    `insert into usage_dimensions (id, organization_id, project_id, key_id, model, deployment, operation)
     values (?, ?, ?, ?, ?, ?, 'chat')`,
  );
  const rollup = database.prepare(
    `insert into usage_rollups (bucket_seconds, begins_at, dimension_id, requests, prompt_tokens, cached_tokens,
       completion_tokens, reasoning_tokens, characters, audio_milliseconds, cost_nano_dollars)
     values (?, ?, ?, ?, ?, 0, ?, 0, 0, 0, ?)`,
  );
  const today = Math.floor(Date.now() / DAY) * DAY;
  let id = 1_000_000;
  for (const key of keys) {
    for (const [index, model] of SAMPLE_MODELS.entries()) {
      id += 1;
      dimension.run(id, organization, key.project, key.id, model.id, model.id);
      for (let day = 0; day < USAGE_DAYS; day += 1) {
        const at = today - day * DAY;
        const weekend = [0, 6].includes(new Date(at).getUTCDay()) ? 0.35 : 1;
        const growth = 1 - day / (2 * USAGE_DAYS);
        const share = key.share * (MODEL_SHARES[index] ?? 0) * weekend * growth * (0.75 + random() / 2);
        const requests = Math.round(9_000 * share);
        const [prompt, completion] = [requests * 2_100, requests * 640];
        const cost = Math.round(NANO * (prompt * Number(model.prompt) + completion * Number(model.completion)));
        for (const [seconds, begin] of [
          [86_400, at],
          [3_600, at + 9 * HOUR],
        ] as const) {
          if (begin <= Date.now()) rollup.run(seconds, begin, id, requests, prompt, completion, cost);
        }
      }
    }
  }
}

/** Requests of the last day, half of them in the last hour, with a few failures and retries. */
function seedRequests({ database, organization, keys }: Scope): void {
  const random = generator(11);
  const dimensions = new Map<string, number>();
  const dimension = database.prepare(
    `insert into request_dimensions (id, organization_id, project_id, key_id, operation, model, answered_by,
       deployment, status, outcome, error, last_day) values (?, ?, ?, ?, 'chat/completions', ?, ?, ?, ?, ?, ?, ?)`,
  );
  const request = database.prepare(
    `insert into request_history (id, at, dimension_id, attempts, queued_milliseconds, first_token_milliseconds,
       duration_milliseconds, prompt_tokens, cached_tokens, completion_tokens, characters, audio_milliseconds,
       cost_nano_dollars, details) values (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, null, null, ?, ?)`,
  );
  const pick = <Item>(items: readonly Item[], shares: readonly number[]): Item => {
    let remaining = random();
    const index = shares.findIndex((share) => {
      remaining -= share;
      return remaining <= 0;
    });
    return items[Math.max(0, index)] as Item;
  };
  for (let index = 0; index < REQUESTS; index += 1) {
    const age = index % 2 === 0 ? random() * HOUR : random() * DAY;
    const at = Math.floor(Date.now() - age - 5 * MINUTE * random() * random());
    const wave = 0.6 + 0.4 * Math.sin(at / (9 * MINUTE));
    if (random() > wave) continue;
    const key = pick(
      keys,
      keys.map(({ share }) => share),
    );
    const model = pick(SAMPLE_MODELS, MODEL_SHARES);
    const failure = random() < 0.012 ? FAILURES[Math.floor(random() * FAILURES.length)] : undefined;
    const name = [key.id, model.id, failure?.error].join(" ");
    const dimensionId = dimensions.get(name) ?? 2_000_000 + dimensions.size;
    if (!dimensions.has(name)) {
      const answeredBy = failure === undefined ? model.id : null;
      dimension.run(
        ...[dimensionId, organization, key.project, key.id, model.id, answeredBy, model.id, failure?.status ?? 200],
        ...[failure?.outcome ?? "completed", failure?.error ?? null, Math.floor(Date.now() / DAY) * DAY],
      );
      dimensions.set(name, dimensionId);
    }
    const completion = Math.round(80 + 900 * random() * random());
    const prompt = Math.round(300 + 5_000 * random() * random());
    const queued = random() < 0.1 ? Math.round(900 * random()) : 0;
    const first = Math.round(queued + model.firstMs * (0.7 + random() * random() * 2.4) + prompt / 40);
    const duration = Math.round(first + completion * model.tokenMs);
    const cost = Math.round(NANO * (prompt * Number(model.prompt) + completion * Number(model.completion)));
    const isRetried = failure === undefined && random() < 0.004;
    const stages = isRetried ? retried(model.id, queued, first) : null;
    const id = `req_${index.toString(16).padStart(32, "0")}`;
    if (failure !== undefined) request.run(id, at, dimensionId, 1, queued, null, 40 + queued, null, null, null, null);
    else {
      const measures = [stages === null ? 1 : 2, queued, first, duration, prompt, completion, cost];
      request.run(id, at, dimensionId, ...measures, stages === null ? null : JSON.stringify({ stages }));
    }
  }
}

function retried(deployment: string, queuedMs: number, firstMs: number) {
  const error = { error: "upstream_error", message: "The upstream closed the connection." };
  return [
    { kind: "attempt", deployment, startMs: 0, durationMs: queuedMs + 90, queuedMs, ...error },
    { kind: "attempt", deployment, startMs: queuedMs + 90, durationMs: firstMs, queuedMs: 0 },
  ];
}
