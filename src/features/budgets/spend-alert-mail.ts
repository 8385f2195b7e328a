/** E-mail about a budget that was reached. */

import { inDollars } from "../../kernel/nano-dollars.ts";
import type { Mail } from "../mail/index.ts";
import { NO_END, PERIOD_NAMES, SUBJECT_NAMES } from "../quota/index.ts";
import type { BudgetRow } from "./budget-rows.ts";
import type { SpendAlert } from "./spend-alerts.ts";

export function spendAlertMail(row: BudgetRow, alert: SpendAlert, publicUrl: string | undefined): Mail {
  const { bound, percent, spentNanoDollars } = alert;
  const { scope, window, isEnforcing, thresholdCents } = bound;
  const kind = row.kind === "alert" ? "spend alert" : `${PERIOD_NAMES[row.period]} budget`;
  const name = row.name === null ? kind : `${kind} "${row.name}"`;
  const subject = `${SUBJECT_NAMES[scope.subject]} ${scope.id}`;
  const spent = toDollars(inDollars(spentNanoDollars));
  const limit = toDollars(thresholdCents / 100);
  const lines = [
    `The ${name} of the ${subject} has reached ${percent} %: ${spent} of ${limit} are spent.`,
    "",
    `Budget:   ${row.id}`,
    ...(row.projectId === null ? [] : [`Project:  ${row.projectId}`]),
    `Window:   ${toTime(window.from)} to ${window.until === NO_END ? "no end" : toTime(window.until)}`,
    "",
    isEnforcing
      ? "Requests that could exceed the budget are refused until it resets or an administrator raises it."
      : "Requests are not refused.",
    ...(publicUrl === undefined ? [] : ["", `${publicUrl}/#/budgets`]),
    "",
  ];
  const prefix = row.subjectPrefix === null ? "Parlance" : row.subjectPrefix;
  return {
    type: "budget.reached",
    organizationId: row.organizationId,
    recipients: JSON.parse(row.recipients),
    subject: `${prefix}: ${name} at ${percent} %`,
    body: lines.join("\n"),
  };
}

function toDollars(value: number): string {
  return `$${value.toFixed(2)}`;
}

function toTime(time: number): string {
  return `${new Date(time).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
