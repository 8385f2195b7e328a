/** What an operator should look at, from one overview. */

import { formatCost, formatMilliseconds } from "../../components/format.ts";
import type { Deployment, Overview, Pool, SpendLimit } from "./overview-query.ts";

export interface Concern {
  id: string;
  severity: "error" | "warning";
  title: string;
  detail: string;
}

const RECENT_MINUTES = 5;
/** Fewer requests say nothing about a share of errors. */
const MIN_REQUESTS = 10;
const MAX_ERROR_SHARE = 0.1;
const NEAR_LIMIT = 0.8;

export function concernsOf(overview: Overview): Concern[] {
  const { deployments, pools, spend, minutes } = overview;
  const concerns = [
    ...(deployments ?? []).flatMap(deploymentConcern),
    ...(pools ?? []).flatMap(poolConcern),
    ...spend.limits.flatMap(spendConcern),
    ...errorConcern(minutes.slice(-RECENT_MINUTES)),
  ];
  return concerns.sort((a, b) => Number(a.severity === "warning") - Number(b.severity === "warning"));
}

function deploymentConcern(each: Deployment): Concern[] {
  const id = `${each.model} ${each.deployment}`;
  const detail = each.reason ?? "Requests go to other deployments of the model, if it has any.";
  if (each.circuit !== "closed") {
    return [{ id, severity: "error", title: `${each.deployment} is paused after repeated failures`, detail }];
  }
  if (each.state === "failed" || each.state === "restarting") {
    return [{ id, severity: "error", title: `${each.deployment} is ${each.state}`, detail }];
  }
  if (each.waiting === 0) return [];
  const usual = each.first_token_seconds;
  return [
    {
      id,
      severity: "warning",
      title: `${each.waiting} ${each.waiting === 1 ? "request waits" : "requests wait"} for ${each.deployment}`,
      detail: `All its ${each.slots ?? ""} slots are busy.${usual === null ? "" : ` Its first token takes ${formatMilliseconds(1000 * usual)}.`}`,
    },
  ];
}

function poolConcern({ deployment, source, endpoints, state, reason }: Pool): Concern[] {
  if (state === "up") return [];
  const isEmpty = state === "empty";
  return [
    {
      id: `pool ${deployment}`,
      severity: isEmpty ? "error" : "warning",
      title: isEmpty ? `${deployment} has no endpoints` : `The endpoints of ${deployment} may be out of date`,
      detail: `${reason ?? source}.${isEmpty ? "" : ` The ${endpoints} found before are in use.`}`,
    },
  ];
}

const OWNERS = { organization: "The organization", project: "The project", api_key: "The key" } as const;

function spendConcern({ scope, scope_id, threshold_usd, month_usd, enforced }: SpendLimit): Concern[] {
  if (month_usd === null || month_usd < NEAR_LIMIT * threshold_usd) return [];
  const isReached = month_usd >= threshold_usd;
  return [
    {
      id: scope_id,
      severity: isReached && enforced ? "error" : "warning",
      title: `${OWNERS[scope]} has ${isReached ? "reached" : "nearly reached"} its monthly spend limit`,
      detail: `${formatCost(month_usd)} of ${formatCost(threshold_usd)}. ${enforced ? "Requests above it get a 429." : "It only warns: requests continue."}`,
    },
  ];
}

function errorConcern(minutes: Overview["minutes"]): Concern[] {
  const requests = minutes.reduce((sum, minute) => sum + minute.requests, 0);
  const errors = minutes.reduce((sum, minute) => sum + minute.errors, 0);
  if (requests < MIN_REQUESTS || errors / requests <= MAX_ERROR_SHARE) return [];
  return [
    {
      id: "errors",
      severity: "warning",
      title: `${Math.round((100 * errors) / requests)} % of the requests of the last ${RECENT_MINUTES} minutes failed`,
      detail: "Requests shows each of them with its error.",
    },
  ];
}
