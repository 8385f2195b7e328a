/** Whose limits a request is held to. */

import type { LimitedScope, Limits } from "./limits.ts";
import type { Claim } from "./quota.ts";

/** Shown and set where there is no limit. */
const NO_LIMIT = 1_000_000_000;

export interface DefaultLimits {
  projectModel: Limits;
  organization: Limits;
  key: Limits;
}

/** What was set for a project's use of a model; null: as the defaults say. */
export interface SetLimits extends Readonly<Record<keyof Limits, number | null>> {
  model: string;
}

/** A limit set for a wildcard counts all models under it together; a default counts each by itself. */
export function limitedScopes(
  { caller, model, catalogId }: Claim,
  defaults: DefaultLimits,
  set: readonly SetLimits[],
): LimitedScope[] {
  const { organizationId, keyId, projectId } = caller;
  const scopes = [
    { name: "all models", key: `org ${organizationId}`, limits: finite(defaults.organization) },
    { name: "this API key", key: `key ${keyId}`, limits: finite(defaults.key) },
  ];
  if (model === undefined || projectId === undefined) return scopes;
  const row = set.find((each) => each.model === model) ?? set.find((each) => each.model === catalogId);
  const limits = finite({ ...defaults.projectModel, ...withoutNull(row) });
  return [{ name: `project ${projectId}`, key: `project ${projectId} ${row?.model ?? model}`, limits }, ...scopes];
}

const NAMES = [
  "requestsPerMinute",
  "requestsPerDay",
  "tokensPerMinute",
  "audioMegabytesPerMinute",
  "concurrentRequests",
] as const satisfies (keyof Limits)[];

function withoutNull(row: SetLimits | undefined): Limits {
  if (row === undefined) return {};
  return Object.fromEntries(NAMES.filter((name) => row[name] !== null).map((name) => [name, row[name]]));
}

function finite(limits: Limits): Limits {
  return Object.fromEntries(NAMES.filter((name) => (limits[name] ?? NO_LIMIT) < NO_LIMIT).map((n) => [n, limits[n]]));
}
