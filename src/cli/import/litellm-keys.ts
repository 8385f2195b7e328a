/** Takes over LiteLLM's virtual keys, which it stores as SHA-256 in hexadecimal, as this service does. */

import { loadConfig } from "../../config/load-config.ts";
import { Accounts } from "../../features/accounts/accounts.ts";
import { OPERATOR } from "../../features/accounts/audit/audit.ts";
import { storeApiKey } from "../../features/accounts/keys/store-api-key.ts";
import { Budgets } from "../../features/budgets/budgets.ts";
import { SpendLimitService } from "../../features/quota/spend-limit-service.ts";
import type { SpendPeriod } from "../../features/quota/spend-window.ts";
import { openLog } from "../../observability/open-log.ts";
import { accountExtensions } from "../../serving/account-extensions.ts";
import { openConfiguredDatabase } from "../../storage/configured-database.ts";
import { configSources } from "../config-sources.ts";
import { asFields, asList, asPositive, asText, compact, type Fields, type Note } from "./imported.ts";

const HASH = /^[0-9a-f]{64}$/;
/** LiteLLM's durations of about these calendar periods. */
const PERIODS: readonly [RegExp, SpendPeriod][] = [
  [/^(1d|24h|86400s)$/, "day"],
  [/^(7d|1w|168h)$/, "week"],
  [/^(1mo|28d|29d|30d|31d|4w)$/, "month"],
];
/** LiteLLM's names of all models, and of those of the team. */
const UNRESTRICTED: ReadonlySet<string> = new Set(["all-team-models", "all-proxy-models", "*"]);
const RATE_LIMITS = ["rpm_limit", "tpm_limit", "max_parallel_requests"] as const;
const LEFT_OUT: Readonly<Record<string, string>> = {
  tags: "which label its spending in LiteLLM. Usage is summed by project and key here.",
  model_max_budget: "budgets by model. Use: parlance budgets create",
  model_rpm_limit: "limits by model. Use: parlance projects limit",
  model_tpm_limit: "limits by model. Use: parlance projects limit",
};
const MAX_NAME = 100;

export interface ImportedKeys {
  keys: number;
  notes: readonly Note[];
}

/** `source`: LiteLLM's list of keys, as full objects. */
export async function importKeys(source: unknown): Promise<ImportedKeys> {
  const config = await loadConfig(configSources());
  const logger = openLog("warn");
  await using closing = new AsyncDisposableStack();
  const database = openConfiguredDatabase(config, logger);
  closing.defer(() => database.close());
  const accounts = new Accounts({ database, logger, extensions: accountExtensions() });
  closing.defer(() => accounts.close());
  const accessGroups = new Set(config.models.flatMap((model) => model.accessGroups));
  return await storeKeys(accounts, source, { now: Date.now(), accessGroups });
}

interface KeysOptions {
  now: number;
  /** Access groups of the catalog, which LiteLLM names as it names models. */
  accessGroups: ReadonlySet<string>;
}

export async function storeKeys(
  accounts: Accounts,
  source: unknown,
  { now, accessGroups }: KeysOptions,
): Promise<ImportedKeys> {
  const notes: Note[] = [];
  const scope = await accounts.defaultScope("project");
  const projects = new Map<string, string>();
  const unrestrictedTeams = new Set<string>();
  let keys = 0;
  for (const each of Array.isArray(source) ? source : asList(asFields(source).keys)) {
    const key = asFields(each);
    const path = asText(key.key_alias) ?? asText(key.key_name) ?? asText(key.token) ?? "a key";
    const reason = refusalOf(key, now);
    if (reason !== undefined) {
      notes.push({ path, reason });
      continue;
    }
    const models = modelsOf(key, accessGroups);
    const projectId = await projectOf(accounts, { organizationId: scope.organizationId, key, models }, projects);
    const stored = await store(accounts, { ...scope, projectId: projectId ?? scope.projectId }, key, now);
    if (stored === undefined) {
      notes.push({ path, reason: "is there already." });
      continue;
    }
    keys += 1;
    const team = teamOf(key);
    if (team !== undefined && models === undefined) unrestrictedTeams.add(team);
    await limit(accounts, stored, key, (problem) => notes.push({ path, reason: problem }));
  }
  for (const path of unrestrictedTeams)
    notes.push({
      path,
      reason: `may use all models: the list has none of a team. Use: parlance projects allow ${path}`,
    });
  return { keys, notes };
}

type Scope = Awaited<ReturnType<Accounts["defaultScope"]>>;

function refusalOf({ token, blocked, expires }: Fields, now: number): string | undefined {
  if (typeof token !== "string" || !HASH.test(token))
    return "has no hash. Export the keys with return_full_object=true.";
  if (blocked === true) return "is blocked.";
  return typeof expires === "string" && Date.parse(expires) <= now ? "has expired." : undefined;
}

/**
 * A team becomes a project of its name; a key without a team belongs to the default project. Permissions belong to
 * projects, so that the keys of one team and list of models get a project that allows this list only.
 */
async function projectOf(
  accounts: Accounts,
  { organizationId, key, models }: { organizationId: string; key: Fields; models: string[] | undefined },
  projects: Map<string, string>,
): Promise<string | undefined> {
  const team = teamOf(key);
  if (team === undefined && models === undefined) return undefined;
  const name = nameOf(team ?? "LiteLLM", models);
  const reference = JSON.stringify([team, models]);
  const existing = projects.get(reference) ?? (await findProjectId(accounts, { organizationId, name, models }));
  const id = existing ?? (await accounts.projects.create(OPERATOR, organizationId, name)).id;
  if (existing === undefined && models !== undefined) {
    const permissions = { mode: "allow_list", modelIds: models } as const;
    await accounts.modelPermissions.replace(OPERATOR, { organizationId, projectId: id }, permissions);
  }
  projects.set(reference, id);
  return id;
}

function teamOf(key: Fields): string | undefined {
  return asText(key.team_alias) ?? asText(key.team_id);
}

/** Entries of the models that the key may use, sorted; undefined: those of its team, or all. */
function modelsOf(key: Fields, accessGroups: ReadonlySet<string>): string[] | undefined {
  const names = [...new Set(asList(key.models).map(String))];
  if (names.length === 0 || names.some((name) => UNRESTRICTED.has(name))) return undefined;
  return names.map((name) => (accessGroups.has(name) ? `group:${name}` : name)).toSorted();
}

function nameOf(team: string, models: readonly string[] | undefined): string {
  return (models === undefined ? team : `${team}: ${models.join(", ")}`).slice(0, MAX_NAME);
}

/** Names are not unique: a project that allows other models is another one. */
async function findProjectId(
  accounts: Accounts,
  { organizationId, name, models }: { organizationId: string; name: string; models: readonly string[] | undefined },
): Promise<string | undefined> {
  const projects = await accounts.run((executor) =>
    executor
      .selectFrom("projects")
      .select("id")
      .where("organizationId", "=", organizationId)
      .where("name", "=", name)
      .where("archivedAt", "is", null)
      .orderBy("createdAt")
      .execute(),
  );
  if (models === undefined) return projects[0]?.id;
  for (const { id } of projects) {
    const permissions = await accounts.modelPermissions.retrieve({ organizationId, projectId: id });
    const isSame =
      permissions?.mode === "allow_list" && permissions.modelIds.toSorted().join("\n") === models.join("\n");
    if (isSame) return id;
  }
  return undefined;
}

/** Returns the key; undefined when its hash is stored already. */
async function store(accounts: Accounts, scope: Scope, key: Fields, now: number) {
  const keyHash = String(key.token);
  const expires = asText(key.expires);
  return accounts.transactions.run(OPERATOR, async (transaction) => {
    const existing = await transaction.executor
      .selectFrom("apiKeys")
      .select("id")
      .where("keyHash", "=", keyHash)
      .executeTakeFirst();
    if (existing !== undefined) return undefined;
    const expiresInSeconds = expires === undefined ? undefined : Math.ceil((Date.parse(expires) - now) / 1000);
    const name = (asText(key.key_alias) ?? "LiteLLM").slice(0, MAX_NAME);
    const redactedValue = asText(key.key_name) ?? `sk-...${keyHash.slice(-4)}`;
    return storeApiKey(transaction, { scope, name, expiresInSeconds }, { keyHash, redactedValue });
  });
}

/** Returns the period of a budget, and a note where it is not LiteLLM's. */
function periodOf(budget: number, duration: string | undefined): { period: SpendPeriod; problem?: string } {
  if (duration === undefined) return { period: "total" };
  const period = PERIODS.find(([pattern]) => pattern.test(duration))?.[1];
  if (period !== undefined) return { period };
  const shorter = /^\d+[smh]$/.test(duration) ? "day" : "month";
  const problem = `has a budget of $${budget} for ${duration}, which became one of a ${shorter}.`;
  return { period: shorter, problem };
}

async function limit(
  accounts: Accounts,
  { id, organizationId, projectId }: { id: string; organizationId: string; projectId: string | null },
  key: Fields,
  note: (problem: string) => void,
): Promise<void> {
  const budget = asPositive(key.max_budget);
  if (budget !== undefined && projectId !== null) {
    const { period, problem } = periodOf(budget, asText(key.budget_duration));
    if (problem !== undefined) note(problem);
    await addBudget(accounts, { organizationId, projectId, keyId: id }, { period, dollars: budget });
  }
  const limits = RATE_LIMITS.filter((name) => asPositive(key[name]) !== undefined);
  if (limits.length > 0)
    note(
      `has ${limits.map((name) => `${name} ${asText(key[name])}`).join(", ")}. Limits belong to projects: parlance projects limit`,
    );
  for (const [name, reason] of Object.entries(LEFT_OUT)) {
    const value = key[name] ?? asFields(key.metadata)[name];
    if (Object.keys(compact({ value })).length > 0) note(`has ${name}, ${reason}`);
  }
}

async function addBudget(
  accounts: Accounts,
  owner: { organizationId: string; projectId: string; keyId: string },
  { period, dollars }: { period: SpendPeriod; dollars: number },
): Promise<void> {
  const thresholdCents = Math.round(dollars * 100);
  if (period === "month") {
    const limits = new SpendLimitService(accounts.transactions);
    await limits.replace(OPERATOR, owner, { thresholdCents, isEnforcing: true });
    return;
  }
  const budgets = new Budgets(accounts.transactions, { recordsEndUsers: false, recordsTags: false, sendsMail: false });
  await budgets.create(OPERATOR, {
    ...{ organizationId: owner.organizationId, projectId: owner.projectId, kind: "budget", name: null },
    ...{ subject: "api_key", subjectId: owner.keyId, period, thresholdCents, isEnforcing: true },
    ...{ startsAt: undefined, alertPercents: undefined, notification: null },
  });
}
