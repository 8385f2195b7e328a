import { SpendLimitService } from "../../features/quota/spend-limit-service.ts";
import { accountExtensions } from "../../serving/account-extensions.ts";
/** Takes over LiteLLM's virtual keys, which it stores as SHA-256 in hexadecimal, as this service does. */

import { loadConfig } from "../../config/load-config.ts";
import { Accounts } from "../../features/accounts/accounts.ts";
import { OPERATOR } from "../../features/accounts/audit/audit.ts";
import { storeApiKey } from "../../features/accounts/keys/api-keys.ts";
import { openLog } from "../../observability/open-log.ts";
import { openConfiguredDatabase } from "../../storage/configured-database.ts";
import { configSources } from "../config-sources.ts";
import { asFields, asList, asPositive, asText, type Fields, type Note } from "./imported.ts";

const HASH = /^[0-9a-f]{64}$/;
/** Budgets of about a month; spend limits count calendar months. */
const MONTHLY = /^(1mo|28d|29d|30d|31d|4w)$/;
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
  return await storeKeys(accounts, source);
}

export async function storeKeys(accounts: Accounts, source: unknown, now = Date.now()): Promise<ImportedKeys> {
  const notes: Note[] = [];
  const scope = await accounts.defaultScope("project");
  const projects = new Map<string, string>();
  let keys = 0;
  for (const each of Array.isArray(source) ? source : asList(asFields(source).keys)) {
    const key = asFields(each);
    const path = asText(key.key_alias) ?? asText(key.key_name) ?? asText(key.token) ?? "a key";
    const reason = refusalOf(key, now);
    if (reason !== undefined) {
      notes.push({ path, reason });
      continue;
    }
    const projectId = await projectOf(accounts, scope.organizationId, key, projects);
    const stored = await store(accounts, { ...scope, projectId: projectId ?? scope.projectId }, key, now);
    if (stored === undefined) {
      notes.push({ path, reason: "is there already." });
      continue;
    }
    keys += 1;
    await limit(accounts, stored, key, (problem) => notes.push({ path, reason: problem }));
  }
  return { keys, notes };
}

type Scope = Awaited<ReturnType<Accounts["defaultScope"]>>;

function refusalOf({ token, blocked, expires }: Fields, now: number): string | undefined {
  if (typeof token !== "string" || !HASH.test(token))
    return "has no hash. Export the keys with return_full_object=true.";
  if (blocked === true) return "is blocked.";
  return typeof expires === "string" && Date.parse(expires) <= now ? "has expired." : undefined;
}

/** A team becomes a project of its name; a key without a team belongs to the default project. */
async function projectOf(accounts: Accounts, organizationId: string, key: Fields, projects: Map<string, string>) {
  const team = asText(key.team_alias) ?? asText(key.team_id);
  if (team === undefined) return undefined;
  const name = team.slice(0, MAX_NAME);
  const existing = projects.get(name) ?? (await findProjectId(accounts, organizationId, name));
  const id = existing ?? (await accounts.projects.create(OPERATOR, organizationId, name)).id;
  projects.set(name, id);
  return id;
}

async function findProjectId(accounts: Accounts, organizationId: string, name: string): Promise<string | undefined> {
  const project = await accounts.run((executor) =>
    executor
      .selectFrom("projects")
      .select("id")
      .where("organizationId", "=", organizationId)
      .where("name", "=", name)
      .where("archivedAt", "is", null)
      .executeTakeFirst(),
  );
  return project?.id;
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

async function limit(
  accounts: Accounts,
  { id, organizationId, projectId }: { id: string; organizationId: string; projectId: string | null },
  key: Fields,
  note: (problem: string) => void,
): Promise<void> {
  const budget = asPositive(key.max_budget);
  const duration = asText(key.budget_duration);
  if (budget !== undefined && projectId !== null) {
    if (duration !== undefined && !MONTHLY.test(duration))
      note(`has a budget of $${budget} for ${duration}, which became one of a calendar month.`);
    if (duration === undefined) note(`has a budget of $${budget} without end, which became one of a calendar month.`);
    const owner = { organizationId, projectId, keyId: id };
    await new SpendLimitService(accounts.transactions).replace(OPERATOR, owner, {
      thresholdCents: Math.round(budget * 100),
      isEnforcing: true,
    });
  }
  const models = asList(key.models)
    .map(String)
    .filter((model) => model !== "all-team-models" && model !== "all-proxy-models");
  if (models.length > 0)
    note(`may use ${models.join(", ")} only. Permissions belong to projects: parlance projects allow`);
  if (asPositive(key.rpm_limit) ?? asPositive(key.tpm_limit))
    note("has rate limits. Limits belong to projects: parlance projects limit");
}
