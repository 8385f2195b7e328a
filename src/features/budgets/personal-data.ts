import type { Executor } from "../../storage/database.ts";
import type { Person, PersonalData, QueriedRows } from "../../storage/personal-data.ts";
import type { BudgetRow } from "./budget-rows.ts";

/** Budgets of the person are deleted; of those that alert the person, the address is removed. */
const budgetsOfPerson: QueriedRows<"budgets"> = {
  columns: ["subjectId", "recipients"],
  async *read({ database }, person) {
    const budgets = await database.run((executor) => budgetsIn(executor, person));
    for (const budget of budgets) {
      const isRecipient = recipientsOf(budget).some((each) => person.identifiers.email.includes(each));
      // Other recipients are other persons.
      const { recipients: _recipients, ...shown } = budget;
      if (isSubject(budget, person) || isRecipient) yield { ...shown, isRecipient };
    }
  },
  erase: ({ database }, person) =>
    database.transaction(async (executor) => {
      let erased = 0;
      for (const budget of await budgetsIn(executor, person)) {
        const others = recipientsOf(budget).filter((each) => !person.identifiers.email.includes(each));
        const recipients = JSON.stringify(others);
        if (isSubject(budget, person)) await executor.deleteFrom("budgets").where("id", "=", budget.id).execute();
        else if (recipients === budget.recipients) continue;
        else await executor.updateTable("budgets").set({ recipients }).where("id", "=", budget.id).execute();
        erased += 1;
      }
      return erased;
    }),
};

function budgetsIn(executor: Executor, { organizationId }: Person): Promise<BudgetRow[]> {
  return executor.selectFrom("budgets").selectAll().where("organizationId", "=", organizationId).execute();
}

function recipientsOf({ recipients }: BudgetRow): string[] {
  return JSON.parse(recipients);
}

function isSubject({ subject, subjectId }: BudgetRow, { identifiers }: Person): boolean {
  if (subjectId === null) return false;
  if (subject === "end_user") return identifiers.endUser.includes(subjectId);
  return identifiers.caller.includes(subjectId);
}

export const budgetData = {
  budgets: {
    rows: [budgetsOfPerson],
    texts: { columns: { name: "prose" }, within: "organizationId" },
    impersonal: { subject: "Kind of the subject.", subjectPrefix: "Text before the subjects of e-mails." },
  },
} as const satisfies PersonalData;
