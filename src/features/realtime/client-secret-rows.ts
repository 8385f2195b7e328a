/** Rows of client secrets. Times are epoch milliseconds. */

import type { PersonalData } from "../../storage/personal-data.ts";

export interface ClientSecretRow {
  /** SHA-256 in hexadecimal. */
  secretHash: string;
  /** Key that the secret stands for. */
  keyId: string;
  /** Session configuration, encrypted with the secret, in base64. */
  session: string;
  createdAt: number;
  expiresAt: number;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    clientSecrets: ClientSecretRow;
  }
}

export const clientSecretData = {
  clientSecrets: { rows: [{ by: { keyId: "key" }, hidden: ["secretHash", "session"], erase: "delete" }] },
} as const satisfies PersonalData;
