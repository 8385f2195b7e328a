/** Reads and changes the guardrails of a project. Its moderation policy is one of them. */

import { guardrailList } from "../../contracts/guardrail.ts";
import { type AccountTransactions, type Actor, findActiveProject, findExistingProject } from "../accounts/index.ts";
import {
  deleteModerationPolicy,
  findModerationPoliciesOf,
  putModerationPolicy,
  toModerationRow,
  toProjectModeration,
} from "../moderations/index.ts";
import { deleteGuardrails, findGuardrailsOf, putGuardrails } from "./guardrail-queries.ts";
import { toModeration, toModerationEntry, type WrittenGuardrail } from "./stored-guardrails.ts";

interface ProjectReference {
  organizationId: string;
  id: string;
}

export class GuardrailPolicyService {
  readonly #transactions: AccountTransactions;

  constructor(transactions: AccountTransactions) {
    this.#transactions = transactions;
  }

  /** Returns the list, with the moderation policy last; empty without any. Throws a Fault when the project does not exist. */
  async retrieve(reference: ProjectReference): Promise<readonly WrittenGuardrail[]> {
    return this.#transactions.database.run(async (executor) => {
      const project = await findExistingProject(executor, reference);
      const [row] = await findGuardrailsOf(executor, [project.id]);
      const [moderation] = await findModerationPoliciesOf(executor, [project.id]);
      const others = row === undefined ? [] : (JSON.parse(row.guardrails) as WrittenGuardrail[]);
      return moderation === undefined ? others : [...others, toModerationEntry(toProjectModeration(moderation))];
    });
  }

  /** Replaces the list, which `guardrailList` accepts. Throws a Fault when the project does not exist or is archived. */
  async replace(actor: Actor, reference: ProjectReference, list: readonly WrittenGuardrail[]): Promise<void> {
    await this.#transactions.run(actor, async ({ executor, now, audit }) => {
      const project = await findActiveProject(executor, reference);
      const moderation = guardrailList.parse(list).find(({ type }) => type === "moderation");
      const others = list.filter(({ type }) => type !== "moderation");
      const row = { projectId: project.id, guardrails: JSON.stringify(others), updatedAt: now };
      if (others.length > 0) await putGuardrails(executor, row);
      else await deleteGuardrails(executor, project.id);
      if (moderation === undefined) await deleteModerationPolicy(executor, project.id);
      else await putModerationPolicy(executor, toModerationRow(project.id, toModeration(moderation), now));
      // Lists of words may be long, and may be confidential themselves.
      const guardrails = list.map(({ type, action, on }) => ({ type, action, on }));
      const { organizationId, id: resourceId } = project;
      await audit({ type: "project.updated", organizationId, project, resourceId, details: { guardrails } });
    });
  }
}
