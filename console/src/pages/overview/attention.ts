/** What an operator should look at, from one overview. */

import { formatCost, formatMilliseconds, formatPercent } from "../../components/format.ts";
import { msg, plural, t } from "../../i18n/translate.ts";
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
  const detail = each.reason ?? t("Requests go to other deployments of the model, if it has any.");
  if (each.circuit !== "closed") {
    return [
      {
        id,
        severity: "error",
        title: t("{{name}} is paused after repeated failures", { name: each.deployment }),
        detail,
      },
    ];
  }
  if (each.state === "failed" || each.state === "restarting") {
    const name = each.deployment;
    const title = each.state === "failed" ? t("{{name}} has failed", { name }) : t("{{name}} is restarting", { name });
    return [{ id, severity: "error", title, detail }];
  }
  if (each.waiting === 0) return [];
  const usual = each.first_token_seconds;
  const time = usual === null ? undefined : formatMilliseconds(1000 * usual);
  const slots = each.slots ?? 0;
  return [
    {
      id,
      severity: "warning",
      title: plural(each.waiting, "{{count}} request waits for {{name}}", "{{count}} requests wait for {{name}}", {
        name: each.deployment,
      }),
      detail: [
        plural(slots, "Its slot is busy.", "All its {{count}} slots are busy."),
        time === undefined ? "" : t("Its first token takes {{time}}.", { time }),
      ].join(" "),
    },
  ];
}

function poolConcern({ deployment, source, endpoints, state, reason }: Pool): Concern[] {
  if (state === "up") return [];
  const isEmpty = state === "empty";
  return [
    {
      id: `pool/${deployment}`,
      severity: isEmpty ? "error" : "warning",
      title: isEmpty
        ? t("{{name}} has no endpoints", { name: deployment })
        : t("The endpoints of {{name}} may be out of date", { name: deployment }),
      detail: isEmpty
        ? `${reason ?? source}.`
        : `${reason ?? source}. ${plural(endpoints, "The one found before is in use.", "The {{count}} found before are in use.")}`,
    },
  ];
}

const REACHED = {
  organization: msg("The organization has reached its monthly spend limit"),
  project: msg("The project has reached its monthly spend limit"),
  api_key: msg("The key has reached its monthly spend limit"),
};
const NEARLY_REACHED = {
  organization: msg("The organization has nearly reached its monthly spend limit"),
  project: msg("The project has nearly reached its monthly spend limit"),
  api_key: msg("The key has nearly reached its monthly spend limit"),
};

function spendConcern({ scope, scope_id, threshold_usd, month_usd, enforced }: SpendLimit): Concern[] {
  if (month_usd === null || month_usd < NEAR_LIMIT * threshold_usd) return [];
  const isReached = month_usd >= threshold_usd;
  const amounts = { spent: formatCost(month_usd), limit: formatCost(threshold_usd) };
  return [
    {
      id: scope_id,
      severity: isReached && enforced ? "error" : "warning",
      title: t((isReached ? REACHED : NEARLY_REACHED)[scope]),
      detail: enforced
        ? t("{{spent}} of {{limit}}. Requests above it get a 429.", amounts)
        : t("{{spent}} of {{limit}}. It only warns: requests continue.", amounts),
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
      title: t("{{percent}} of the requests of the last {{minutes}} minutes failed", {
        percent: formatPercent(Math.round((100 * errors) / requests) / 100),
        minutes: RECENT_MINUTES,
      }),
      detail: t("The page Requests shows each of them with its error."),
    },
  ];
}
