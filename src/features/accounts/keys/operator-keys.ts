/** Temporary keys of the operator's commands. No list has them; the audit log names the operator for what they do. */

import { HOUR_MS } from "../../../kernel/durations.ts";
import { newId } from "../../../kernel/id.ts";
import type { Secret } from "../../../kernel/secret.ts";
import type { AccountTransactions } from "../account-transaction.ts";
import { OPERATOR } from "../audit/audit.ts";
import { hashApiKey, makeApiKey, redactApiKey } from "./api-key.ts";
import { deleteApiKey, deleteExpiredApiKeys, insertApiKey } from "./api-key-queries.ts";

/** A key ends by itself where its command is killed. */
const LIFETIME_MS = HOUR_MS;

interface OperatorKey {
  secret: Secret;
  /** Ends the key from the next request on. */
  end(): Promise<void>;
}

export class OperatorKeys {
  readonly #transactions: AccountTransactions;

  constructor(transactions: AccountTransactions) {
    this.#transactions = transactions;
  }

  /** `organizationId` is the default organization's. */
  async create(organizationId: string): Promise<OperatorKey> {
    const secret = makeApiKey("operator");
    const id = newId("key_");
    await this.#transactions.run(OPERATOR, async ({ executor, now }) => {
      await deleteExpiredApiKeys(executor, "operator", now);
      await insertApiKey(executor, {
        id,
        organizationId,
        projectId: null,
        serviceAccountId: null,
        userId: null,
        kind: "operator",
        name: "Command line",
        keyHash: hashApiKey(secret.reveal()),
        redactedValue: redactApiKey(secret.reveal()),
        isFixed: 0,
        createdAt: now,
        expiresAt: now + LIFETIME_MS,
        revokedAt: null,
        lastUsedAt: null,
        lastUsedAddress: null,
        lastUsedClient: null,
      });
    });
    const end = () => this.#transactions.run(OPERATOR, ({ executor }) => deleteApiKey(executor, id));
    return { secret, end };
  }
}
