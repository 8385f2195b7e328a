/** What a project may use of each model in a minute or a day. */

import { findRateLimitsOf, putRateLimit } from "../storage/rate-limits.ts";
import type { AccountChanges } from "./account-changes.ts";
import type { Actor } from "./audit.ts";
import { findActiveProject, findExistingProject } from "./projects.ts";

/** Null: as the configuration says. */
export interface RateLimit {
  requestsPerMinute: number | null;
  requestsPerDay: number | null;
  tokensPerMinute: number | null;
  audioMegabytesPerMinute: number | null;
  concurrentRequests: number | null;
}

export interface ModelRateLimit extends RateLimit {
  /** A catalog entry's id. */
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
  concurrentRequests: null,
};

export class RateLimitSettings {
  readonly #changes: AccountChanges;

  constructor(changes: AccountChanges) {
    this.#changes = changes;
  }

  /** Those that were set. Throws a Fault when there is no such project. */
  async list(project: ProjectReference): Promise<ModelRateLimit[]> {
    return this.#changes.database.run(async (executor) => {
      await findExistingProject(executor, project);
      return findRateLimitsOf(executor, [project.id]);
    });
  }

  /** Sets what `change` names. Throws a Fault when there is no such project or it is archived. */
  async update(
    actor: Actor,
    reference: ProjectReference,
    model: string,
    change: Partial<RateLimit>,
  ): Promise<ModelRateLimit> {
    return this.#changes.make(actor, async ({ executor, now, audit }) => {
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
