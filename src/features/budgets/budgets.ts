/** Creates, changes and reads budgets, and alerts in OpenAI's shape, which are budgets that refuse nothing. */

import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import type { Executor } from "../../storage/database.ts";
import type { Page, PageRequest } from "../../storage/page.ts";
import {
  type AccountTransactions,
  type Actor,
  checkEmail,
  findActiveProject,
  findApiKey,
  findExistingProject,
  findUser,
} from "../accounts/index.ts";
import { startOfDay } from "../quota/index.ts";
import { type ApplicableBudget, toApplicableBudget } from "./applicable-budget.ts";
import {
  type BudgetReference,
  countBudgets,
  deleteBudget,
  findBudget,
  findBudgetsOf,
  insertBudget,
  listBudgets,
  updateBudget,
} from "./budget-queries.ts";
import type { BudgetRow } from "./budget-rows.ts";

/** Every key's cache entry refers to the budgets that may apply to it. */
const MAX_BUDGETS = 1_000;
const DEFAULT_PERCENTS: readonly number[] = [50, 80, 100];

export interface Budget extends ApplicableBudget {
  kind: BudgetRow["kind"];
  recipients: readonly string[];
  subjectPrefix: string | null;
  createdAt: number;
  updatedAt: number;
}

export interface NewBudget
  extends Pick<BudgetRow, "kind" | "name" | "projectId" | "subject" | "subjectId" | "period" | "thresholdCents"> {
  organizationId: string;
  isEnforcing: boolean;
  /** Epoch milliseconds; undefined: now. */
  startsAt: number | undefined;
  /** Undefined: the default. */
  alertPercents: readonly number[] | undefined;
  notification: Notification | null;
}

interface Notification {
  recipients: readonly string[];
  subjectPrefix: string | null;
}

export interface BudgetChange {
  name?: string | null | undefined;
  thresholdCents?: number | undefined;
  isEnforcing?: boolean | undefined;
  alertPercents?: readonly number[] | undefined;
  notification?: Notification | null | undefined;
}

/** What the configuration allows. */
export interface BudgetRules {
  recordsEndUsers: boolean;
  recordsTags: boolean;
  sendsMail: boolean;
}

export class Budgets {
  readonly #transactions: AccountTransactions;
  readonly #rules: BudgetRules;

  constructor(transactions: AccountTransactions, rules: BudgetRules) {
    this.#transactions = transactions;
    this.#rules = rules;
  }

  /** Throws a Fault for a subject that does not exist or whose spending is not recorded. */
  async create(actor: Actor, budget: NewBudget): Promise<Budget> {
    const { organizationId, projectId, kind, subject, period } = budget;
    this.#checkRecorded(subject);
    const notification = this.#toColumns(budget.notification);
    return this.#transactions.run(actor, async ({ executor, now, audit }) => {
      if ((await countBudgets(executor, organizationId)) >= MAX_BUDGETS) {
        const message = `The organization has ${MAX_BUDGETS} budgets and spend alerts, the maximum. Delete one, or use a budget without 'subject.id', which each one has for itself.`;
        throw new Fault("conflict", message, { code: "too_many_budgets" });
      }
      const project =
        projectId === null ? undefined : await findActiveProject(executor, { organizationId, id: projectId });
      const row: BudgetRow = {
        id: newId(kind === "budget" ? "budget_" : "alert_"),
        ...{ organizationId, projectId, kind, name: budget.name, subject, period },
        subjectId: await findSubject(executor, budget),
        thresholdCents: budget.thresholdCents,
        isEnforcing: Number(budget.isEnforcing),
        startsAt: period === "total" ? startOfDay(budget.startsAt ?? now) : 0,
        alertPercents: JSON.stringify(budget.alertPercents ?? DEFAULT_PERCENTS),
        ...notification,
        createdAt: now,
        updatedAt: now,
      };
      await insertBudget(executor, row);
      const { name, thresholdCents } = row;
      // Identifiers of end users may be personal data.
      const details = {
        name,
        subject,
        ...(subject !== "end_user" && { subjectId: row.subjectId }),
        period,
        thresholdCents,
      };
      await audit({ type: "budget.created", organizationId, project, resourceId: row.id, details });
      return toBudget(row);
    });
  }

  /** Throws a Fault when it does not exist. What was spent so far keeps counting. */
  async update(actor: Actor, reference: BudgetReference, id: string, change: BudgetChange): Promise<Budget> {
    const { name, thresholdCents, isEnforcing, alertPercents, notification } = change;
    const columns: Partial<BudgetRow> = {
      ...(name !== undefined && { name }),
      ...(thresholdCents !== undefined && { thresholdCents }),
      ...(isEnforcing !== undefined && { isEnforcing: Number(isEnforcing) }),
      ...(alertPercents !== undefined && { alertPercents: JSON.stringify(alertPercents) }),
      ...(notification !== undefined && this.#toColumns(notification)),
    };
    return this.#transactions.run(actor, async ({ executor, now, audit }) => {
      const row = { ...(await requireBudget(executor, reference, id)), ...columns, updatedAt: now };
      await updateBudget(executor, id, { ...columns, updatedAt: now });
      const { organizationId } = row;
      await audit({ type: "budget.updated", organizationId, resourceId: id, details: toDetails(change) });
      return toBudget(row);
    });
  }

  /** Throws a Fault when it does not exist. */
  async delete(actor: Actor, reference: BudgetReference, id: string): Promise<void> {
    await this.#transactions.run(actor, async ({ executor, audit }) => {
      const { organizationId } = await requireBudget(executor, reference, id);
      await deleteBudget(executor, id);
      await audit({ type: "budget.deleted", organizationId, resourceId: id, details: {} });
    });
  }

  /** Throws a Fault when it does not exist. */
  async retrieve(reference: BudgetReference, id: string): Promise<Budget> {
    return this.#transactions.database.run(async (executor) => toBudget(await requireBudget(executor, reference, id)));
  }

  /** Throws a Fault when the project does not exist. */
  async list(reference: BudgetReference, request: PageRequest): Promise<Page<Budget>> {
    const { organizationId, projectId } = reference;
    return this.#transactions.database.run(async (executor) => {
      if (projectId != null) await findExistingProject(executor, { organizationId, id: projectId });
      const page = await listBudgets(executor, reference, request);
      return { ...page, entries: page.entries.map(toBudget) };
    });
  }

  /** All budgets and alerts; undefined: of all organizations. */
  async all(organizationId?: string): Promise<Budget[]> {
    const ids = organizationId === undefined ? undefined : [organizationId];
    const rows = await this.#transactions.database.run((executor) => findBudgetsOf(executor, ids));
    return rows.map(toBudget);
  }

  #checkRecorded(subject: BudgetRow["subject"]): void {
    const { recordsEndUsers, recordsTags } = this.#rules;
    if (subject === "end_user" && !recordsEndUsers) {
      throw invalidRequest(
        "Budgets of end users need `usage.labels.end_users: true` in the configuration, because usage is not recorded by end user now.",
        "subject.type",
        "labels_not_recorded",
      );
    }
    if (subject === "tag" && !recordsTags) {
      throw invalidRequest(
        "Budgets of tags need `usage.labels.tag_header` or `usage.labels.tag_metadata` in the configuration, because usage is not recorded by tag now.",
        "subject.type",
        "labels_not_recorded",
      );
    }
  }

  #toColumns(notification: Notification | null): Pick<BudgetRow, "recipients" | "subjectPrefix"> {
    if (notification === null) return { recipients: "[]", subjectPrefix: null };
    const param = "notification_channel.recipients";
    if (!this.#rules.sendsMail) {
      const message = "E-mail is not configured: set `mail` in the configuration, or use the webhook `budget.reached`.";
      throw invalidRequest(message, "notification_channel", "mail_not_configured");
    }
    const recipients = [...new Set(notification.recipients.map((each) => checkEmail(each, param)))];
    return { recipients: JSON.stringify(recipients), subjectPrefix: notification.subjectPrefix };
  }
}

/** Returns the ID of the subject as it is stored. Throws a Fault when it does not exist. */
async function findSubject(executor: Executor, budget: NewBudget): Promise<string | null> {
  const { organizationId, projectId, subject, subjectId: id } = budget;
  const missing = (name: string) =>
    invalidRequest(`There is no ${name} \`${id}\`${inProject(projectId)}.`, "subject.id", "invalid_value");
  if (subject === "organization" && id !== null && id !== organizationId) {
    throw invalidRequest("'subject.id' must be left out for the organization.", "subject.id", "invalid_value");
  }
  if (subject === "project" && id !== null && projectId !== null && id !== projectId) throw missing("project");
  const subjectId = subject === "project" ? (id ?? projectId) : id;
  if (subject === "organization" || subjectId === null) return null;
  switch (subject) {
    case "project":
      return (await findActiveProject(executor, { organizationId, id: subjectId })).id;
    case "api_key": {
      const scope = { organizationId, kind: "project" as const, ...(projectId !== null && { projectId }) };
      if ((await findApiKey(executor, scope, subjectId)) === undefined) throw missing("API key");
      return subjectId;
    }
    case "user":
      if ((await findUser(executor, { organizationId, id: subjectId })) === undefined) throw missing("user");
      return subjectId;
    default:
      return subjectId;
  }
}

/** Without addresses, which are personal data. */
function toDetails({ notification: _notification, ...change }: BudgetChange) {
  return change;
}

function inProject(projectId: string | null): string {
  return projectId === null ? "" : ` in the project \`${projectId}\``;
}

async function requireBudget(executor: Executor, reference: BudgetReference, id: string): Promise<BudgetRow> {
  const row = await findBudget(executor, reference, id);
  if (row !== undefined) return row;
  const name = reference.kind === "budget" ? "budget" : "spend alert";
  throw new Fault("not-found", `There is no ${name} \`${id.slice(0, 100)}\`.`);
}

function toBudget(row: BudgetRow): Budget {
  const { kind, subjectPrefix, createdAt, updatedAt } = row;
  const recipients = JSON.parse(row.recipients);
  return { ...toApplicableBudget(row), kind, recipients, subjectPrefix, createdAt, updatedAt };
}
