/** Reads and changes the moderation policy that applies to all chats of a project. */

import { Fault } from "../../kernel/faults.ts";
import { type AccountTransactions, type Actor, findActiveProject, findExistingProject } from "../accounts/index.ts";
import { deleteModerationPolicy, findModerationPoliciesOf, putModerationPolicy } from "./policy-queries.ts";
import type { ModerationPolicyRow } from "./policy-rows.ts";

export interface ProjectModeration {
  /** A catalog ID or an alias. Null: the first moderation model that the caller may use. */
  model: string | null;
  /** Null: only as the request asks. */
  input: "score" | "block" | null;
  output: "score" | "block" | null;
  /** For text in a language that the model does not know. Null: `pass`. */
  unsupportedLanguage: UnsupportedLanguage | null;
}

interface UnsupportedLanguage {
  action: "pass" | "refuse" | "model";
  /** With `model`: the catalog ID or alias of the model that moderates it instead. */
  model: string | null;
}

interface ProjectReference {
  organizationId: string;
  id: string;
}

export class ModerationPolicyService {
  readonly #transactions: AccountTransactions;

  constructor(transactions: AccountTransactions) {
    this.#transactions = transactions;
  }

  /** Throws a Fault when the project does not exist or has no policy. */
  async retrieve(reference: ProjectReference): Promise<ProjectModeration> {
    return this.#transactions.database.run(async (executor) => {
      const project = await findExistingProject(executor, reference);
      const [row] = await findModerationPoliciesOf(executor, [project.id]);
      if (row === undefined) throw new Fault("not-found", "There is no moderation policy.");
      return toProjectModeration(row);
    });
  }

  /** Throws a Fault when the project does not exist or is archived. */
  async replace(actor: Actor, reference: ProjectReference, policy: ProjectModeration): Promise<ProjectModeration> {
    return this.#transactions.run(actor, async ({ executor, now, audit }) => {
      const project = await findActiveProject(executor, reference);
      await putModerationPolicy(executor, toModerationRow(project.id, policy, now));
      const { model, input, output, unsupportedLanguage } = policy;
      const changed = { model, input, output, ...(unsupportedLanguage !== null && { unsupportedLanguage }) };
      await audit({ ...updated(project), details: { moderationPolicy: changed } });
      return policy;
    });
  }

  /** Returns false when there was none. Throws a Fault when the project does not exist or is archived. */
  async remove(actor: Actor, reference: ProjectReference): Promise<boolean> {
    return this.#transactions.run(actor, async ({ executor, audit }) => {
      const project = await findActiveProject(executor, reference);
      const isRemoved = await deleteModerationPolicy(executor, project.id);
      if (isRemoved) await audit({ ...updated(project), details: { moderationPolicy: null } });
      return isRemoved;
    });
  }
}

function updated(project: { organizationId: string; id: string; name: string }) {
  return { type: "project.updated", organizationId: project.organizationId, project, resourceId: project.id } as const;
}

export function toModerationRow(projectId: string, policy: ProjectModeration, updatedAt: number): ModerationPolicyRow {
  const { model, input, output, unsupportedLanguage } = policy;
  return {
    projectId,
    model,
    inputMode: input,
    outputMode: output,
    unsupportedLanguage: unsupportedLanguage?.action ?? null,
    unsupportedLanguageModel: unsupportedLanguage?.model ?? null,
    updatedAt,
  };
}

export function toProjectModeration(row: ModerationPolicyRow): ProjectModeration {
  const { model, inputMode, outputMode, unsupportedLanguage, unsupportedLanguageModel } = row;
  return {
    model,
    input: inputMode,
    output: outputMode,
    unsupportedLanguage:
      unsupportedLanguage === null ? null : { action: unsupportedLanguage, model: unsupportedLanguageModel },
  };
}
