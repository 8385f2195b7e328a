/** Where conversations belong: to a person in a project, or to this browser. */

import { queryClient } from "../../api/query-client.ts";
import { sessionQuery } from "../../api/session.ts";
import type { Session } from "../../api/sign-in.ts";

/** A signed-in person in a project. */
export interface ChatAccount {
  userId: string;
  projectId: string;
}

/** Begins the keys of what this browser stores for accounts. */
const PREFIX = "parlance-account/";

/** Null: nobody is signed in, or with a key only, or the service saves no chats. Undefined: before the session is read. */
export function currentAccount(): ChatAccount | null | undefined {
  const session = queryClient.getQueryData<Session>(sessionQuery.queryKey);
  if (session === undefined) return undefined;
  if (!session.signed_in || !session.saves_chats || session.user === null || session.project === null) return null;
  return { userId: session.user.id, projectId: session.project.id };
}

export function isSameAccount(one: ChatAccount | null, other: ChatAccount | null): boolean {
  return one?.userId === other?.userId && one?.projectId === other?.projectId;
}

/** Begins the keys of an account's conversations. */
export function accountPrefix({ userId, projectId }: ChatAccount): string {
  return `${PREFIX}${userId}/${projectId}/`;
}

/** Removes what this browser stores for accounts, except for those of one person. */
export function removeAccountData(exceptUserId?: string): void {
  const exceptPrefix = exceptUserId === undefined ? undefined : `${PREFIX}${exceptUserId}/`;
  try {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith(PREFIX) && (exceptPrefix === undefined || !key.startsWith(exceptPrefix)))
        localStorage.removeItem(key);
    }
  } catch {
    // Storage is disabled: it has nothing.
  }
}
