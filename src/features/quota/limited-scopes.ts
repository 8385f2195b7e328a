/** Selects the limits that apply to a request. */

import { type Caller, countedKeyId } from "../../contracts/caller.ts";
import type { QuotaClaim } from "../../inference/quota.ts";
import type { LimitedScope, Limits } from "./limits.ts";

/** Stands for unlimited in the administration API. */
const NO_LIMIT = 1_000_000_000;

export interface DefaultLimits {
  projectModel: Limits;
  organization: Limits;
  key: Limits;
  user: Limits;
}

/** Limits set for a project and model; null: the default applies. */
export interface LimitOverrides extends Readonly<Record<keyof Limits, number | null>> {
  model: string;
}

/**
 * Returns the scopes with limits, narrowest first. A limit set for a wildcard counts all models under it together. A
 * default under a wildcard counts each name and all names together: callers choose names freely, which must not
 * multiply their limits.
 */
export function limitedScopes(
  defaults: DefaultLimits,
  overridesOf: (caller: Caller) => readonly LimitOverrides[],
): (claim: QuotaClaim) => LimitedScope[] {
  const defaultLimits = {
    projectModel: finite(defaults.projectModel),
    organization: finite(defaults.organization),
    key: finite(defaults.key),
    user: finite(defaults.user),
  };
  const isLimited = Object.values(defaultLimits).some((limits) => Object.keys(limits).length > 0);
  const ofProject = (projectId: string, claim: QuotaClaim, overrides: readonly LimitOverrides[]): LimitedScope[] => {
    const { model, catalogId } = claim;
    const row = overrides.find((each) => each.model === model) ?? overrides.find((each) => each.model === catalogId);
    const { projectModel } = defaultLimits;
    const limits = row === undefined ? projectModel : finite({ ...projectModel, ...withoutNull(row) });
    const scope = { name: `project ${projectId}`, key: `project ${projectId} ${row?.model ?? model}`, limits };
    if (row !== undefined || catalogId === undefined || catalogId === model) return [scope];
    const name = `project ${projectId} (all of ${catalogId})`;
    return [scope, { name, key: `project ${projectId} ${catalogId}`, limits }];
  };
  return (claim) => {
    const { caller, model } = claim;
    const { organizationId, projectId, userId } = caller;
    const overrides = projectId === undefined ? [] : overridesOf(caller);
    if (!isLimited && overrides.length === 0) return [];
    const scopes: LimitedScope[] = [];
    if (model !== undefined && projectId !== undefined) scopes.push(...ofProject(projectId, claim, overrides));
    scopes.push({ name: "all models", key: `org ${organizationId}`, limits: defaultLimits.organization });
    if (userId !== undefined) scopes.push({ name: "this user", key: `user ${userId}`, limits: defaultLimits.user });
    scopes.push({ name: "this API key", key: `key ${countedKeyId(caller)}`, limits: defaultLimits.key });
    return scopes.filter(({ limits }) => Object.keys(limits).length > 0);
  };
}

const NAMES = [
  "requestsPerMinute",
  "requestsPerDay",
  "tokensPerMinute",
  "audioMegabytesPerMinute",
  "imagesPerMinute",
  "concurrentRequests",
] as const satisfies (keyof Limits)[];

function withoutNull(row: LimitOverrides): Limits {
  return Object.fromEntries(NAMES.filter((name) => row[name] !== null).map((name) => [name, row[name]]));
}

function finite(limits: Limits): Limits {
  return Object.fromEntries(NAMES.filter((name) => (limits[name] ?? NO_LIMIT) < NO_LIMIT).map((n) => [n, limits[n]]));
}
