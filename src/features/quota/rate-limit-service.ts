/** Reads and changes a project's rate limits per model. */

import { type AccountTransactions, type Actor, findActiveProject, findExistingProject } from "../accounts/index.ts";
import { findRateLimitsOf, putRateLimit } from "./rate-limit-queries.ts";

/** Null: the configured default applies. */
export interface RateLimit {
  requestsPerMinute: number | null;
  requestsPerDay: number | null;
  tokensPerMinute: number | null;
  audioMegabytesPerMinute: number | null;
  imagesPerMinute: number | null;
  concurrentRequests: number | null;
}

export interface ModelRateLimit extends RateLimit {
  /** A catalog entry's ID. */
  model: string;
}

interface ProjectReference {
  organizationId: string;
  id: string;
}

const NONE: RateLimit = {
  requestsPerMinute: null,
  requestsPerDay: null,
  tokensPerMinute: null,
  audioMegabytesPerMinute: null,
  imagesPerMinute: null,
  concurrentRequests: null,
};

export class RateLimitService {
  readonly #transactions: AccountTransactions;

  constructor(transactions: AccountTransactions) {
    this.#transactions = transactions;
  }

  /** Lists the limits that were set. Throws a Fault when the project does not exist. */
  async list(project: ProjectReference): Promise<ModelRateLimit[]> {
    return this.#transactions.database.run(async (executor) => {
      await findExistingProject(executor, project);
      return findRateLimitsOf(executor, [project.id]);
    });
  }

  /** Sets what `change` names. Throws a Fault when the project does not exist or is archived. */
  async update(
    actor: Actor,
    reference: ProjectReference,
    model: string,
    change: Partial<RateLimit>,
  ): Promise<ModelRateLimit> {
    return this.#transactions.run(actor, async ({ executor, now, audit }) => {
      const project = await findActiveProject(executor, reference);
      const before = (await findRateLimitsOf(executor, [project.id])).find((each) => each.model === model);
      const row = { ...NONE, ...before, ...change, projectId: project.id, model, updatedAt: now };
      await putRateLimit(executor, row);
      const { organizationId } = project;
      const details = { model, ...change };
      await audit({ type: "rate_limit.updated", organizationId, project, resourceId: project.id, details });
      return row;
    });
  }
}
