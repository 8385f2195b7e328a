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
  return ({ caller, model, catalogId }) => {
    const { organizationId, projectId, userId } = caller;
    const scopes: LimitedScope[] = [];
    const set = projectId === undefined ? [] : overridesOf(caller);
    if (!isLimited && set.length === 0) return scopes;
    const add = (name: string, key: string, limits: Limits) => {
      if (Object.keys(limits).length > 0) scopes.push({ name, key, limits });
    };
    if (model !== undefined && projectId !== undefined) {
      const row = set.find((each) => each.model === model) ?? set.find((each) => each.model === catalogId);
      const limits =
        row === undefined ? defaultLimits.projectModel : finite({ ...defaultLimits.projectModel, ...withoutNull(row) });
      add(`project ${projectId}`, `project ${projectId} ${row?.model ?? model}`, limits);
      if (row === undefined && catalogId !== undefined && catalogId !== model) {
        add(`project ${projectId} (all of ${catalogId})`, `project ${projectId} ${catalogId}`, limits);
      }
    }
    add("all models", `org ${organizationId}`, defaultLimits.organization);
    if (userId !== undefined) add("this user", `user ${userId}`, defaultLimits.user);
    add("this API key", `key ${countedKeyId(caller)}`, defaultLimits.key);
    return scopes;
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
