/** Whose limits a request is held to. */

import type { Caller } from "../accounts/caller.ts";
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

/**
 * The scopes of a claim that have any limit, from the narrowest. A limit set for a wildcard counts all models under it
 * together; a default counts each by itself.
 */
export function limitedScopes(
  defaults: DefaultLimits,
  setFor: (caller: Caller) => readonly SetLimits[],
): (claim: Claim) => LimitedScope[] {
  const usual = {
    projectModel: finite(defaults.projectModel),
    organization: finite(defaults.organization),
    key: finite(defaults.key),
  };
  const isLimited = Object.values(usual).some((limits) => Object.keys(limits).length > 0);
  return ({ caller, model, catalogId }) => {
    const { organizationId, keyId, projectId } = caller;
    const scopes: LimitedScope[] = [];
    const set = projectId === undefined ? [] : setFor(caller);
    if (!isLimited && set.length === 0) return scopes;
    const add = (name: string, key: string, limits: Limits) => {
      if (Object.keys(limits).length > 0) scopes.push({ name, key, limits });
    };
    if (model !== undefined && projectId !== undefined) {
      const row = set.find((each) => each.model === model) ?? set.find((each) => each.model === catalogId);
      const limits = row === undefined ? usual.projectModel : finite({ ...usual.projectModel, ...withoutNull(row) });
      add(`project ${projectId}`, `project ${projectId} ${row?.model ?? model}`, limits);
    }
    add("all models", `org ${organizationId}`, usual.organization);
    add("this API key", `key ${keyId}`, usual.key);
    return scopes;
  };
}

const NAMES = [
  "requestsPerMinute",
  "requestsPerDay",
  "tokensPerMinute",
  "audioMegabytesPerMinute",
  "concurrentRequests",
] as const satisfies (keyof Limits)[];

function withoutNull(row: SetLimits): Limits {
  return Object.fromEntries(NAMES.filter((name) => row[name] !== null).map((name) => [name, row[name]]));
}

function finite(limits: Limits): Limits {
  return Object.fromEntries(NAMES.filter((name) => (limits[name] ?? NO_LIMIT) < NO_LIMIT).map((n) => [n, limits[n]]));
}
