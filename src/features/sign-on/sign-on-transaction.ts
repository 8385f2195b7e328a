/** One sign-in on its way through the provider: what the browser keeps meanwhile, encrypted, for ten minutes. */

import { randomNonce, randomPKCECodeVerifier, randomState } from "openid-client";
import { z } from "zod";
import { DecryptionError, type Keyring } from "../../kernel/encryption/keyring.ts";
import { lazy } from "../../kernel/lazy.ts";
import { TRANSACTION_MS } from "./transaction-cookie.ts";

/** Binds the content to its purpose. */
const PLACE = "sign-on transaction";
/** Browsers refuse cookies of more than 4 KiB. */
const MAX_LENGTH = 4_000;

const transactionSchema = lazy.strictObject(() => ({
  provider: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  redirectUri: z.string(),
  /** Page of the console to continue with. */
  returnTo: z.string(),
  /** Token of an invite that the sign-in accepts. */
  invite: z.string().optional(),
  /** Key and session of the operator who makes the person the first owner. */
  operator: z.strictObject({ keyId: z.string(), sessionId: z.string().optional() }).optional(),
  expiresAt: z.number(),
}));

export type Transaction = z.output<typeof transactionSchema>;

export type NewTransaction = Pick<Transaction, "provider" | "redirectUri" | "returnTo" | "invite" | "operator">;

export function beginTransaction(begun: NewTransaction, now: number): Transaction {
  return {
    ...begun,
    state: randomState(),
    nonce: randomNonce(),
    verifier: randomPKCECodeVerifier(),
    expiresAt: now + TRANSACTION_MS,
  };
}

export function sealTransaction(keyring: Keyring, transaction: Transaction): string {
  return keyring.encrypt(JSON.stringify(transaction), PLACE).toString("base64url");
}

/** Returns undefined for a transaction that has expired, was altered, or belongs to another state or provider. */
export function openTransaction(
  keyring: Keyring,
  sealed: string | undefined,
  expected: { provider: string; state: string | undefined; now: number },
): Transaction | undefined {
  if (sealed === undefined || sealed.length > MAX_LENGTH) return undefined;
  let text: string;
  try {
    text = keyring.decrypt(Buffer.from(sealed, "base64url"), PLACE);
  } catch (failure) {
    if (failure instanceof DecryptionError) return undefined;
    throw failure;
  }
  const transaction = transactionSchema.parse(JSON.parse(text));
  const { provider, state, expiresAt } = transaction;
  const isSame = provider === expected.provider && state === expected.state;
  return isSame && expiresAt > expected.now ? transaction : undefined;
}
