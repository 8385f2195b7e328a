import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { parseRequestDetails } from "../../http/request-details.ts";
import { DAY_SECONDS } from "../../kernel/durations.ts";
import type { Executor } from "../../storage/database.ts";
import type { Person, PersonalData, QueriedRows } from "../../storage/personal-data.ts";
import { dimensionId } from "./dimension-id.ts";

const AT_ONCE = 500;

/** Sums stay for the books, under the pseudonym; those of the user's keys stay under the keys, which name nobody. */
const usageOfCaller: QueriedRows<"usageDimensions"> = {
  columns: ["keyId"],
  async *read({ database }, { identifiers: { caller } }) {
    if (caller.length === 0) return;
    yield* await database.run((executor) =>
      executor
        .selectFrom("usageDimensions as dimension")
        .innerJoin("usageRollups as sum", "sum.dimensionId", "dimension.id")
        .select(["dimension.projectId", "dimension.keyId", "dimension.model", "dimension.operation"])
        .select(["sum.beginsAt as dayBeginsAt", "sum.requests", "sum.promptTokens", "sum.completionTokens"])
        .select("sum.costNanoDollars")
        .where("dimension.keyId", "in", caller)
        .where("sum.bucketSeconds", "=", DAY_SECONDS)
        .orderBy("sum.beginsAt")
        .execute(),
    );
  },
  erase: ({ database }, { identifiers: { user }, pseudonym }) =>
    database.run(async (executor) => {
      if (user.length === 0) return 0;
      // Its ID remains: usage that is recorded later still reaches the same sums.
      const update = executor.updateTable("usageDimensions").set({ keyId: pseudonym }).where("keyId", "in", user);
      return Number((await update.executeTakeFirst()).numUpdatedRows);
    }),
};

const labelsOfPerson: QueriedRows<"usageLabels"> = {
  columns: ["value"],
  async *read({ database }, person) {
    yield* await database.run((executor) =>
      labelsOf(executor, person)
        .innerJoin("usageLabelRollups as sum", "sum.labelId", "label.id")
        .select(["label.projectId", "label.value as endUser", "sum.beginsAt as dayBeginsAt", "sum.requests"])
        .select(["sum.promptTokens", "sum.completionTokens", "sum.costNanoDollars"])
        .where("sum.bucketSeconds", "=", DAY_SECONDS)
        .orderBy("sum.beginsAt")
        .execute(),
    );
  },
  erase: ({ database }, person) =>
    database.transaction(async (executor) => {
      const labels = await labelsOf(executor, person).selectAll("label").execute();
      for (const { id, organizationId, projectId, kind } of labels) {
        // A new ID, because the present one is a hash of the value.
        const value = person.pseudonym;
        const label = { id: dimensionId([randomUUID()]), organizationId, projectId };
        await executor
          .insertInto("usageLabels")
          .values({ ...label, kind, value })
          .execute();
        const sums = executor.updateTable("usageLabelRollups").set({ labelId: label.id });
        await sums.where("labelId", "=", id).execute();
        await executor.deleteFrom("usageLabels").where("id", "=", id).execute();
      }
      return labels.length;
    }),
};

function labelsOf(executor: Executor, { organizationId, identifiers: { endUser } }: Person) {
  return executor
    .selectFrom("usageLabels as label")
    .where("label.organizationId", "=", organizationId)
    .where("label.kind", "=", "end_user")
    .where("label.value", "in", endUser.length === 0 ? [""] : endUser);
}

const requestsOfPerson: QueriedRows<"requestHistory"> = {
  columns: ["dimensionId", "details"],
  async *read({ database }, person) {
    for (let after = ""; ; ) {
      const rows = await database.run((executor) =>
        requestsOf(executor, person)
          .innerJoin("requestDimensions as dimension", "dimension.id", "request.dimensionId")
          .selectAll("request")
          .select(["dimension.projectId", "dimension.keyId", "dimension.operation", "dimension.model"])
          .select(["dimension.status", "dimension.outcome"])
          .where("request.id", ">", after)
          .orderBy("request.id")
          .limit(AT_ONCE)
          .execute(),
      );
      for (const { dimensionId: _, details, ...row } of rows) yield { ...row, details: parseRequestDetails(details) };
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.id;
    }
  },
  async erase({ database }, person) {
    let erased = 0;
    for (;;) {
      const removed = await database.run(async (executor) => {
        const some = requestsOf(executor, person).select("request.id").limit(AT_ONCE);
        return executor.deleteFrom("requestHistory").where("id", "in", some).executeTakeFirst();
      });
      if (removed.numDeletedRows === 0n) return erased;
      erased += Number(removed.numDeletedRows);
    }
  },
};

/** Requests of the person's keys and sessions, and those that name the person as their end user. */
function requestsOf(executor: Executor, { organizationId, identifiers: { caller, endUser } }: Person) {
  const ofOrganization = executor
    .selectFrom("requestDimensions")
    .select("id")
    .where("organizationId", "=", organizationId);
  const ofCaller = ofOrganization.where("keyId", "in", caller.length === 0 ? [""] : caller);
  return executor
    .selectFrom("requestHistory as request")
    .where("request.dimensionId", "in", ofOrganization)
    .where((where) =>
      where.or([
        where("request.dimensionId", "in", ofCaller),
        ...endUser.map((value) => {
          // A text in quotes would have a backslash before its quotes, so that it cannot match.
          const member = `"endUser":${JSON.stringify(value)}`;
          return sql<boolean>`replace(request.details, ${member}, '') <> request.details`;
        }),
      ]),
    );
}

export const usageData = {
  usageDimensions: {
    rows: [usageOfCaller],
    // Callers choose the names below a wildcard.
    texts: { columns: { model: "label" }, within: "organizationId" },
    impersonal: { deployment: "A deployment.", imageSize: "One of a list." },
  },
  usageLabels: { rows: [labelsOfPerson] },
  requestDimensions: {
    // Deleted with the last request that refers to it.
    impersonal: { deployment: "A deployment.", error: "A code." },
    // What callers send, also where there is no such model.
    texts: { columns: { model: "label" }, within: "organizationId" },
    rows: [
      {
        columns: ["keyId"],
        erase: ({ database }, { identifiers: { user }, pseudonym }) =>
          database.run(async (executor) => {
            if (user.length === 0) return 0;
            const update = executor.updateTable("requestDimensions").set({ keyId: pseudonym });
            return Number((await update.where("keyId", "in", user).executeTakeFirst()).numUpdatedRows);
          }),
      },
    ],
  },
  requestHistory: { rows: [requestsOfPerson] },
} as const satisfies PersonalData;
