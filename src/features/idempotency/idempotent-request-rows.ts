/** Rows of requests with an `Idempotency-Key`. Times are epoch milliseconds. */

import type { PersonalData } from "../../storage/personal-data.ts";

export interface IdempotentRequestRow {
  /** SHA-256 of the caller's key, the method, the path and the idempotency key, in hexadecimal. */
  id: string;
  /** Key, or user of a session, that sent it. */
  keyId: string;
  /** SHA-256 of the body, in hexadecimal. */
  bodyHash: string;
  /** Null while the request runs. */
  status: number | null;
  /** The answer, encrypted with the idempotency key; null while the request runs. */
  answer: Buffer | null;
  createdAt: number;
  expiresAt: number;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    idempotentRequests: IdempotentRequestRow;
  }
}

export const idempotentRequestData = {
  idempotentRequests: {
    rows: [{ by: { keyId: "caller" }, hidden: ["id", "bodyHash", "answer"], erase: "delete" }],
  },
} as const satisfies PersonalData;
