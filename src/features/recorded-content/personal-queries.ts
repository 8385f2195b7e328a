import type { Executor } from "../../storage/database.ts";
import type { RequestFeedbackRow } from "./feedback-rows.ts";
import type { ContentRow } from "./recorded-content-queries.ts";

/** Values that name a person; no list is empty. */
export interface PersonOfContent {
  organizationId: string;
  caller: readonly string[];
  endUser: readonly string[];
  user: readonly string[];
}

/** Lists what is recorded of a person after a number, in its order, without the content. */
export async function listContentsOf(
  executor: Executor,
  { organizationId, caller, endUser }: PersonOfContent,
  after: number,
  limit: number,
): Promise<Omit<ContentRow, "content">[]> {
  return executor
    .selectFrom("recordedContents")
    .select(["number", "id", "organizationId", "projectId", "keyId", "endUser", "completionId", "model"])
    .select(["at", "expiresAt", "bytes"])
    .where("number", ">", after)
    .where("organizationId", "=", organizationId)
    .where(({ eb, or }) => or([eb("keyId", "in", caller), eb("endUser", "in", endUser)]))
    .orderBy("number")
    .limit(limit)
    .execute();
}

export async function listFeedbackOf(
  executor: Executor,
  { caller, user }: PersonOfContent,
): Promise<RequestFeedbackRow[]> {
  return executor
    .selectFrom("requestFeedback")
    .selectAll()
    .where(({ eb, or }) => or([eb("keyId", "in", caller), eb("userId", "in", user)]))
    .execute();
}
