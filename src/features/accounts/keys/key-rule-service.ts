/** Reads and changes the rules of projects for the keys of users. */

import { sql } from "kysely";
import type { Executor } from "../../../storage/database.ts";
import type { AccountTransactions } from "../account-transaction.ts";
import type { Actor } from "../audit/audit.ts";
import type { ProjectReference } from "../projects/project-queries.ts";
import { findActiveProject, findExistingProject } from "../projects/projects.ts";
import { type KeyRules, NO_KEY_RULES, readKeyRules } from "./key-rules.ts";

export class KeyRuleService {
  readonly #transactions: AccountTransactions;

  constructor(transactions: AccountTransactions) {
    this.#transactions = transactions;
  }

  /** Throws a Fault when the project does not exist. */
  async retrieve(project: ProjectReference): Promise<KeyRules> {
    return this.#transactions.database.run(async (executor) => {
      const { keyRules } = await findExistingProject(executor, project);
      return readKeyRules(keyRules) ?? NO_KEY_RULES;
    });
  }

  /**
   * Sets the rules. Keys that live longer than allowed expire earlier from now on. Throws a Fault when the project does
   * not exist or is archived.
   */
  async replace(actor: Actor, reference: ProjectReference, rules: KeyRules): Promise<KeyRules> {
    return this.#transactions.run(actor, async ({ executor, now, audit }) => {
      const project = await findActiveProject(executor, reference);
      // The count of a spend limit that only changes goes on.
      const begunAt = readKeyRules(project.keyRules)?.begunAt ?? now;
      const keyRules = JSON.stringify({ ...rules, begunAt });
      await executor.updateTable("projects").set({ keyRules }).where("id", "=", project.id).execute();
      if (rules.maxLifetimeSeconds !== null) await shortenLifetimes(executor, project.id, rules.maxLifetimeSeconds);
      const { organizationId } = reference;
      await audit({
        type: "project.updated",
        organizationId,
        project,
        resourceId: project.id,
        details: { keyRules: rules },
      });
      return rules;
    });
  }

  /** Returns false when there were none. Throws a Fault as `replace`. */
  async remove(actor: Actor, reference: ProjectReference): Promise<boolean> {
    return this.#transactions.run(actor, async ({ executor, audit }) => {
      const project = await findActiveProject(executor, reference);
      if (readKeyRules(project.keyRules) === undefined) return false;
      await executor.updateTable("projects").set({ keyRules: null }).where("id", "=", project.id).execute();
      const { organizationId } = reference;
      await audit({
        type: "project.updated",
        organizationId,
        project,
        resourceId: project.id,
        details: { keyRules: null },
      });
      return true;
    });
  }
}

/** Keys of sign-on, whose hash is not of a secret, end with their sessions instead. */
async function shortenLifetimes(executor: Executor, projectId: string, seconds: number): Promise<void> {
  const latest = sql<number>`created_at + ${seconds * 1000}`;
  await executor
    .updateTable("apiKeys")
    .set({ expiresAt: latest })
    .where("projectId", "=", projectId)
    .where("userId", "is not", null)
    .where("revokedAt", "is", null)
    .where("keyHash", "not like", "% %")
    .where((where) => where.or([where("expiresAt", "is", null), where("expiresAt", ">", latest)]))
    .execute();
}
