import { mapInSlices } from "../../kernel/async/map-in-slices.ts";
import { turns } from "../../kernel/async/turns.ts";
import type { Person, PersonalContext, PersonalData } from "../../storage/personal-data.ts";
import { deleteConversation } from "./conversation-queries.ts";
import { readItems } from "./item-queries.ts";
import { deleteResponse } from "./stored-response-queries.ts";
import type { ConversationRow, ResponseItemRow, StoredResponseRow } from "./stored-response-rows.ts";

const AT_ONCE = 20;

type Content = ConversationRow | StoredResponseRow;

/** Responses or conversations that keys of the person created, with their items. */
function contentOfPerson(table: "storedResponses" | "conversations") {
  const isResponse = table === "storedResponses";
  const page = ({ database }: PersonalContext, caller: readonly string[], after: string): Promise<Content[]> =>
    database.run((executor) =>
      executor
        .selectFrom(table as "conversations")
        .selectAll()
        .where("createdBy", "in", caller.length === 0 ? [""] : caller)
        .where("id", ">", after)
        .orderBy("id")
        .limit(AT_ONCE)
        .execute(),
    );
  return {
    columns: ["createdBy"],
    async *read(context: PersonalContext, { identifiers: { caller } }: Person) {
      for (let after = ""; ; ) {
        const rows = await page(context, caller, after);
        for (const row of rows) yield await withItems(context, isResponse ? "response" : "conversation", row);
        const last = rows.at(-1);
        if (last === undefined) return;
        after = last.id;
      }
    },
    async erase(context: PersonalContext, { identifiers: { caller } }: Person) {
      let erased = 0;
      for (;;) {
        const rows = await page(context, caller, "");
        if (rows.length === 0) return erased;
        for (const row of rows) {
          await context.database.transaction((executor) =>
            isResponse ? deleteResponse(executor, row) : deleteConversation(executor, row),
          );
        }
        erased += rows.length;
      }
    },
  } as const;
}

/** Responses read at a time; each may have megabytes. */
const EXAMINED_AT_ONCE = 10;

/**
 * Responses whose request named the person in `safety_identifier` or `user`, and that other keys created. Only their
 * content says so, so that all responses of the organization are decrypted.
 */
const responsesOfEndUser = {
  columns: [],
  async *read(context: PersonalContext, person: Person) {
    for await (const row of responsesNaming(context, person)) yield await withItems(context, "response", row);
  },
  async erase(context: PersonalContext, person: Person) {
    let erased = 0;
    for await (const row of responsesNaming(context, person)) {
      await context.database.transaction((executor) => deleteResponse(executor, row));
      erased += 1;
    }
    return erased;
  },
} as const;

async function* responsesNaming(
  context: PersonalContext,
  { organizationId, identifiers: { caller, endUser } }: Person,
): AsyncGenerator<StoredResponseRow> {
  const names = new Set(endUser);
  const creators = new Set(caller);
  const turn = turns();
  for (let after = ""; names.size > 0; ) {
    const page = await context.database.run((executor) =>
      executor
        .selectFrom("storedResponses")
        .selectAll("storedResponses")
        .innerJoin("projects", "projects.id", "storedResponses.projectId")
        .where("projects.organizationId", "=", organizationId)
        .where("storedResponses.id", ">", after)
        .orderBy("storedResponses.id")
        .limit(EXAMINED_AT_ONCE)
        .execute(),
    );
    for (const row of page) {
      await turn();
      if (creators.has(row.createdBy ?? "")) continue;
      const { safety_identifier: safetyIdentifier, user } = (open(context, "response", row) ?? {}) as {
        safety_identifier?: unknown;
        user?: unknown;
      };
      if (names.has(String(safetyIdentifier)) || names.has(String(user))) yield row;
    }
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

async function withItems(context: PersonalContext, table: "response" | "conversation", { content, ...row }: Content) {
  const items = await context.database.run((executor) =>
    readItems(executor, table === "response" ? "responseId" : "conversationId", [row.id]),
  );
  return {
    ...row,
    content: open(context, table, { ...row, content }),
    items: await mapInSlices(items, (item) => open(context, "item", item)),
  };
}

/** Null without a key that decrypts the content. */
function open(
  { content }: PersonalContext,
  table: "response" | "conversation" | "item",
  { projectId, id, content: sealed }: Pick<ResponseItemRow, "projectId" | "id" | "content">,
): unknown {
  try {
    return content?.open({ table, projectId, id }, sealed) ?? null;
  } catch {
    return null;
  }
}

export const responseData = {
  storedResponses: { rows: [contentOfPerson("storedResponses"), responsesOfEndUser] },
  conversations: { rows: [contentOfPerson("conversations")] },
} as const satisfies PersonalData;
