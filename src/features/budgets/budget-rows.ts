import type { PersonalData } from "../../storage/personal-data.ts";
import type { SpendPeriod, SpendSubject } from "../quota/index.ts";

/** Budget, or alert in OpenAI's shape, which is a budget of a month that refuses nothing. */
export interface BudgetRow {
  id: string;
  organizationId: string;
  /** Only spending in this project counts; null: in all projects. */
  projectId: string | null;
  kind: "budget" | "alert";
  name: string | null;
  subject: SpendSubject;
  /** ID or label of the subject; null: each one has the budget for itself. */
  subjectId: string | null;
  period: SpendPeriod;
  thresholdCents: number;
  /** 0: only alerts. */
  isEnforcing: number;
  /** First UTC day of the period `total`, epoch milliseconds; 0 for other periods. */
  startsAt: number;
  /** JSON array of percentages, ascending. */
  alertPercents: string;
  /** JSON array of addresses that get alerts by e-mail. */
  recipients: string;
  /** Precedes the subject of e-mails. */
  subjectPrefix: string | null;
  createdAt: number;
  updatedAt: number;
}

/** Percentage of a spend limit or budget that was reported as reached. */
export interface SpendAlertRow {
  /** The limited scope, or the budget and its subject. */
  scopeId: string;
  /** Start of the window in epoch milliseconds. */
  month: number;
  /** 0 for a budget. */
  begunAt: number;
  thresholdCents: number;
  percent: number;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    budgets: BudgetRow;
    spendAlerts: SpendAlertRow;
  }
}

export const spendAlertData = {
  spendAlerts: {
    reason:
      "Limits that were reached, of which users and end users are hashed; a key's ID names nobody once it is erased.",
  },
} as const satisfies PersonalData;
