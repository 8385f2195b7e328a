import type { Executor } from "../../storage/database.ts";
import type { AuditEvent } from "./audit/audit.ts";
import type { ActiveApiKeyRow } from "./keys/active-api-key-queries.ts";
import type { AllKeyPolicies } from "./keys/key-policy.ts";

/** What features add to accounts, which know none of them. */
export interface AccountExtensions {
  policies: AllKeyPolicies;
  /** Each finds the keys that hashes of another credential stand for, such as the tokens of sessions. */
  credentials: readonly ((executor: Executor, hashes: readonly string[]) => Promise<ActiveApiKeyRow[]>)[];
  /** Called in the transaction of each change with what the audit log says of it. */
  onAudited?(executor: Executor, event: AuditEvent, now: number): Promise<void>;
  /** Removes what an archived project stores, in the same transaction. */
  onProjectArchived(executor: Executor, projectId: string): Promise<void>;
  /**
   * Removes the accounts at other services that somebody connected as a user, in the transaction in which a provider or
   * directory confirms for the first time who the user is.
   */
  onUserConfirmed(executor: Executor, userId: string): Promise<void>;
}
