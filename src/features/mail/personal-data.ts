import type { Executor } from "../../storage/database.ts";
import type { Person, PersonalData, QueriedRows } from "../../storage/personal-data.ts";
import type { MailDeliveryRow } from "./mail-rows.ts";

/** E-mails to the person or about the person that were not delivered yet, which are then not sent. */
const mailsOfPerson: QueriedRows<"mailDeliveries"> = {
  columns: ["recipient", "subject", "body"],
  async *read({ database }, person) {
    const mails = await database.run((executor) => mailsIn(executor, person));
    for (const { recipient, subject, createdAt } of mails) {
      if (person.identifiers.email.includes(recipient)) yield { recipient, subject, createdAt };
    }
  },
  erase: ({ database }, person) =>
    database.transaction(async (executor) => {
      const { user, email, endUser } = person.identifiers;
      const names = [...user, ...email, ...endUser];
      const mails = (await mailsIn(executor, person)).filter(
        ({ recipient, subject, body }) =>
          email.includes(recipient) || names.some((name) => `${subject}\n${body}`.includes(name)),
      );
      for (const { id } of mails) await executor.deleteFrom("mailDeliveries").where("id", "=", id).execute();
      return mails.length;
    }),
};

function mailsIn(executor: Executor, { organizationId }: Person): Promise<MailDeliveryRow[]> {
  return executor.selectFrom("mailDeliveries").selectAll().where("organizationId", "=", organizationId).execute();
}

export const mailData = { mailDeliveries: { rows: [mailsOfPerson] } } as const satisfies PersonalData;
