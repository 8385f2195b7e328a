/** Rows of identities, passwords and sessions. Times are epoch milliseconds. */

import type { PersonalData } from "../../storage/personal-data.ts";

/** Identity of a user at an issuer. */
export interface ExternalIdentityRow {
  issuer: string;
  subject: string;
  userId: string;
  createdAt: number;
  lastUsedAt: number;
}

export interface UserPasswordRow {
  userId: string;
  /** argon2id, in the PHC string format. */
  hash: string;
  changedAt: number;
}

/** Link with which a user sets a password, once. */
export interface PasswordLinkRow {
  /** SHA-256 in hexadecimal. */
  tokenHash: string;
  userId: string;
  createdAt: number;
  expiresAt: number;
  /** User who created the link; null: a key without a user, or the operator. */
  createdBy?: string | null;
  /** Key with which it was created. */
  createdByKey?: string | null;
}

/** Session of a user in the console. */
export interface UserSessionRow {
  id: string;
  userId: string;
  /** SHA-256 of the session's token for routes of the organization, in hexadecimal. */
  adminHash: string;
  /** The same for routes of models. */
  projectHash: string;
  /** Key with which the session calls models in the chosen project; null: none. */
  projectKeyId: string | null;
  /** Provider of the configuration; null: signed in with a password or link. */
  providerId: string | null;
  issuer: string | null;
  subject: string | null;
  /** Session at the provider. */
  sid: string | null;
  /** Tokens of the provider, encrypted JSON. */
  tokens: Buffer | null;
  createdAt: number;
  /** When the provider issued the ID token, on its clock; null: unknown. */
  issuedAt?: number | null;
  expiresAt: number;
  /** When the provider last confirmed the session. */
  checkedAt: number;
  /** From when on the session is to be renewed at its provider. */
  renewAt: number;
  /** Until when the session works without a renewal. */
  validUntil: number;
  /** While one process renews the session, others wait. */
  renewingUntil: number | null;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    externalIdentities: ExternalIdentityRow;
    userPasswords: UserPasswordRow;
    passwordLinks: PasswordLinkRow;
    userSessions: UserSessionRow;
  }
}

export const signOnData = {
  externalIdentities: {
    rows: [{ by: { userId: "user" }, erase: "delete" }],
    impersonal: { subject: "Deleted with its row." },
  },
  userPasswords: { rows: [{ by: { userId: "user" }, hidden: ["hash"], erase: "delete" }] },
  passwordLinks: {
    rows: [
      { by: { userId: "user" }, hidden: ["tokenHash", "createdBy", "createdByKey"], erase: "delete" },
      { by: { createdBy: "user" }, hidden: ["tokenHash", "userId"], erase: "delete" },
    ],
    impersonal: { createdByKey: "A key, whose links end with it." },
  },
  userSessions: {
    rows: [{ by: { userId: "user" }, hidden: ["adminHash", "projectHash", "tokens"], erase: "delete" }],
    impersonal: { subject: "Deleted with its row.", sid: "Deleted with its row.", projectKeyId: "Key of the project." },
  },
} as const satisfies PersonalData;
