/** Rows of the keys of console sessions. Times are epoch milliseconds. */

import type { PersonalData } from "../../../storage/personal-data.ts";

/** Since and until when a session acts with a key. */
export interface SessionTimes {
  createdAt: number;
  expiresAt: number;
}

/** Key that a console session acts with; a session has at most one of each kind. */
export interface ConsoleGrantRow extends SessionTimes {
  /** SHA-256 of the kind of key and the session's token, in hexadecimal. */
  tokenHash: string;
  sessionId: string;
  keyId: string;
}

declare module "../../../storage/schema.ts" {
  interface Schema {
    consoleGrants: ConsoleGrantRow;
  }
}

export const consoleGrantData = {
  consoleGrants: { rows: [{ by: { keyId: "key" }, hidden: ["tokenHash", "sessionId"], erase: "delete" }] },
} as const satisfies PersonalData;
