import type { Executor } from "../../../storage/database.ts";
import type { ActiveApiKeyRow } from "./active-api-key-queries.ts";

/** Values of policies that apply to a key, as plain data, which processes exchange. Features add theirs. */
// biome-ignore lint/suspicious/noEmptyInterface: features add its members.
export interface KeyPolicies {}

export type PolicyName = keyof KeyPolicies;

/** One policy: how its values are found when keys are loaded into the cache. */
export interface KeyPolicy<Value> {
  /** Value where nothing is set; also that of the operator in another organization. */
  none: Value;
  /** Reads what applies to these keys in one query, and returns the value of each. */
  load(executor: Executor, keys: readonly ActiveApiKeyRow[]): Promise<(key: ActiveApiKeyRow) => Value>;
  /** Copies what is set for a key to the one that replaces it, in the same transaction. */
  copy?(executor: Executor, fromKeyId: string, toKeyId: string): Promise<void>;
}

/** The policies by their names: one that is missing does not compile. */
export type AllKeyPolicies = { readonly [Name in PolicyName]: KeyPolicy<KeyPolicies[Name]> };

/** Defines the policy of projects that `find` reads by their IDs; `none` applies to keys without a project, too. */
export function projectKeyPolicy<Row extends { projectId: string }, Value>(
  none: Value,
  find: (executor: Executor, projectIds: readonly string[]) => Promise<readonly Row[]>,
  toValue: (rows: readonly Row[]) => Value,
): KeyPolicy<Value> {
  return {
    none,
    load: async (executor, keys) => {
      const rows = Map.groupBy(await find(executor, projectIdsOf(keys)), ({ projectId }) => projectId);
      const values = new Map([...rows].map(([id, ofProject]) => [id, toValue(ofProject)]));
      return ({ projectId }) => (projectId === null ? none : (values.get(projectId) ?? none));
    },
  };
}

function projectIdsOf(keys: readonly ActiveApiKeyRow[]): string[] {
  return [...new Set(keys.flatMap(({ projectId }) => projectId ?? []))];
}

/** Loads all policies of keys; the result gives those of one. */
export async function loadPolicies(
  policies: AllKeyPolicies,
  executor: Executor,
  keys: readonly ActiveApiKeyRow[],
): Promise<(key: ActiveApiKeyRow) => KeyPolicies> {
  const loaded: [string, (key: ActiveApiKeyRow) => unknown][] = [];
  for (const [name, policy] of entriesOf(policies)) loaded.push([name, await policy.load(executor, keys)]);
  return (key) => Object.fromEntries(loaded.map(([name, policyOf]) => [name, policyOf(key)])) as unknown as KeyPolicies;
}

/** Values of all policies where nothing is set. */
export function noPolicies(policies: AllKeyPolicies): KeyPolicies {
  return Object.fromEntries(entriesOf(policies).map(([name, { none }]) => [name, none])) as unknown as KeyPolicies;
}

function entriesOf(policies: AllKeyPolicies): [PolicyName, KeyPolicy<unknown>][] {
  return Object.entries(policies) as [PolicyName, KeyPolicy<unknown>][];
}
