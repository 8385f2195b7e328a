/** Rules of a project for the keys of its users; keys without a user and those of service accounts are free of them. */

import { DAY_SECONDS } from "../../../kernel/durations.ts";
import { invalidRequest } from "../../../kernel/faults.ts";
import type { Executor } from "../../../storage/database.ts";
import type { ModelPermissions } from "../projects/model-access.ts";

/** Bounds of the keys that users create for themselves. */
export interface UserKeyPolicy {
  maxPerProject: number;
  /** Undefined: keys need not expire. */
  maxLifetimeDays?: number | undefined;
}

export interface KeyRules {
  /** Null: as many as the configuration allows. */
  maxKeysPerUser: number | null;
  /** Time from creation to expiry. Null: as long as the configuration allows. */
  maxLifetimeSeconds: number | null;
  /** Models, wildcards and access groups. Null: those of the project. */
  modelIds: readonly string[] | null;
  /** What one key may spend in a month. Null: no limit by rule. */
  spendLimitCents: number | null;
}

/** Rules with the time from which the spend limit counts, as the database has them. */
export interface StoredKeyRules extends KeyRules {
  begunAt: number;
}

export const NO_KEY_RULES: KeyRules = {
  maxKeysPerUser: null,
  maxLifetimeSeconds: null,
  modelIds: null,
  spendLimitCents: null,
};

export function readKeyRules(json: string | null | undefined): StoredKeyRules | undefined {
  return json == null ? undefined : JSON.parse(json);
}

/** Finds the rules of projects that have any, by project ID. */
export async function findKeyRulesOf(
  executor: Executor,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, StoredKeyRules>> {
  if (projectIds.length === 0) return new Map();
  const rows = await executor
    .selectFrom("projects")
    .select(["id", "keyRules"])
    .where("id", "in", projectIds)
    .where("keyRules", "is not", null)
    .execute();
  return new Map(rows.flatMap(({ id, keyRules }) => ofProject(id, readKeyRules(keyRules))));
}

function ofProject(id: string, rules: StoredKeyRules | undefined): [string, StoredKeyRules][] {
  return rules === undefined ? [] : [[id, rules]];
}

/** Models that the rules allow a user's key, in addition to what organization and project allow. */
export function permissionsByRules(rules: KeyRules | undefined): ModelPermissions[] {
  return rules?.modelIds == null ? [] : [{ mode: "allow_list", modelIds: rules.modelIds }];
}

/** Maximum lifetime by the configuration and by the rules; infinite without either. */
export function maxLifetimeSeconds({ maxLifetimeDays }: UserKeyPolicy, rules: KeyRules | undefined): number {
  const unlimited = Number.POSITIVE_INFINITY;
  return Math.min((maxLifetimeDays ?? unlimited) * DAY_SECONDS, rules?.maxLifetimeSeconds ?? unlimited);
}

/** Throws a Fault when a user's key would live longer from its creation on; undefined: forever. */
export function checkLifetime(seconds: number | undefined, maxSeconds: number): void {
  if ((seconds ?? Number.POSITIVE_INFINITY) <= maxSeconds) return;
  const message = `Keys of users expire at most ${maxSeconds} seconds after their creation: set 'expires_in_seconds' accordingly, or rotate the key.`;
  throw invalidRequest(message, "expires_in_seconds", "invalid_value");
}
