/** Settings of a policy as JSON: one row for each project or organization that has set them. */

import type { z } from "zod";
import type { Executor } from "../../../storage/database.ts";
import type { PersonalData } from "../../../storage/personal-data.ts";
import type { KeyPolicy } from "../keys/key-policy.ts";

interface StoredPolicyRow {
  /** ID of a project or an organization. */
  scopeId: string;
  policy: string;
  /** JSON. */
  settings: string;
  updatedAt: number;
}

declare module "../../../storage/schema.ts" {
  interface Schema {
    storedPolicies: StoredPolicyRow;
  }
}

interface StoredPolicyOptions<Settings> {
  name: string;
  settings: z.ZodType<Settings>;
  /** Stands for settings that a newer version wrote and this one cannot read: what they forbid stays forbidden. */
  strictest: Settings;
}

export class StoredPolicy<Settings> {
  readonly #options: StoredPolicyOptions<Settings>;

  constructor(options: StoredPolicyOptions<Settings>) {
    this.#options = options;
  }

  /** Returns the settings of one project or organization; undefined: it has set none. */
  async find(executor: Executor, scopeId: string): Promise<Settings | undefined> {
    return (await this.findOf(executor, [scopeId])).get(scopeId);
  }

  /** Returns the settings by the IDs of those that have set them. */
  async findOf(executor: Executor, scopeIds: readonly string[]): Promise<ReadonlyMap<string, Settings>> {
    if (scopeIds.length === 0) return new Map();
    const rows = await executor
      .selectFrom("storedPolicies")
      .select(["scopeId", "settings"])
      .where("policy", "=", this.#options.name)
      .where("scopeId", "in", scopeIds)
      .execute();
    return new Map(rows.map(({ scopeId, settings }) => [scopeId, this.#parse(settings)]));
  }

  async put(executor: Executor, scopeId: string, settings: Settings, updatedAt: number): Promise<void> {
    const values = { settings: JSON.stringify(settings), updatedAt };
    await executor
      .insertInto("storedPolicies")
      .values({ scopeId, policy: this.#options.name, ...values })
      .onConflict((conflict) => conflict.columns(["scopeId", "policy"]).doUpdateSet(values))
      .execute();
  }

  async remove(executor: Executor, scopeId: string): Promise<void> {
    const { name } = this.#options;
    await executor.deleteFrom("storedPolicies").where("scopeId", "=", scopeId).where("policy", "=", name).execute();
  }

  /** Defines what applies to a key: the value of what its organization and its project have set. */
  forKeys<Value>(
    toValue: (ofProject: Settings | undefined, ofOrganization: Settings | undefined) => Value,
  ): KeyPolicy<Value> {
    return {
      none: toValue(undefined, undefined),
      load: async (executor, keys) => {
        const scopeIds = keys.flatMap(({ organizationId, projectId }) => [organizationId, projectId ?? organizationId]);
        const settings = await this.findOf(executor, [...new Set(scopeIds)]);
        return ({ organizationId, projectId }) => toValue(settings.get(projectId ?? ""), settings.get(organizationId));
      },
    };
  }

  #parse(json: string): Settings {
    const parsed = this.#options.settings.safeParse(JSON.parse(json));
    return parsed.success ? parsed.data : this.#options.strictest;
  }
}

export const storedPolicyData = {
  storedPolicies: { reason: "Settings of projects and organizations.", impersonal: { policy: "One of a list." } },
} as const satisfies PersonalData;
