import type { Person, PersonalContext, PersonalData } from "../privacy/personal-data.ts";
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
        const found = await page(context, caller, after);
        for (const { content, ...row } of found) {
          const items = await context.database.run((executor) =>
            readItems(executor, isResponse ? "responseId" : "conversationId", [row.id]),
          );
          yield {
            ...row,
            content: open(context, isResponse ? "response" : "conversation", { ...row, content }),
            items: items.map((item) => open(context, "item", item)),
          };
        }
        const last = found.at(-1);
        if (last === undefined) return;
        after = last.id;
      }
    },
    async erase(context: PersonalContext, { identifiers: { caller } }: Person) {
      let erased = 0;
      for (;;) {
        const found = await page(context, caller, "");
        if (found.length === 0) return erased;
        for (const row of found) {
          await context.database.transaction((executor) =>
            isResponse ? deleteResponse(executor, row) : deleteConversation(executor, row),
          );
        }
        erased += found.length;
      }
    },
  } as const;
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
  storedResponses: { rows: [contentOfPerson("storedResponses")] },
  conversations: { rows: [contentOfPerson("conversations")] },
  responseItems: { reason: "Exported and erased with their response or conversation." },
  responseEvents: { reason: "Erased with their response." },
} as const satisfies PersonalData;
