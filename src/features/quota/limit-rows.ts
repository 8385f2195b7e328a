/** Rows of rate limits and spend limits. Times are epoch milliseconds. */

import type { PersonalData } from "../../storage/personal-data.ts";

/** Null: the configured default applies. */
export interface RateLimitRow {
  projectId: string;
  /** A catalog entry's ID. */
  model: string;
  requestsPerMinute: number | null;
  requestsPerDay: number | null;
  tokensPerMinute: number | null;
  audioMegabytesPerMinute: number | null;
  imagesPerMinute: number | null;
  concurrentRequests: number | null;
  updatedAt: number;
}

/** Spend limit for a calendar month, UTC. */
export interface SpendLimitRow {
  /** The organization, project or key that it limits. */
  scopeId: string;
  organizationId: string;
  thresholdCents: number;
  /** 0: only logs a warning. */
  isEnforcing: number;
  updatedAt: number;
  /** Identifies the limit: changes keep it, deletion and creation do not. */
  begunAt: number;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    rateLimits: RateLimitRow;
    spendLimits: SpendLimitRow;
  }
}

export const limitData = {
  rateLimits: { reason: "Settings of projects.", impersonal: { model: "A model of the catalog." } },
  spendLimits: { reason: "Settings of projects, organizations and keys." },
} as const satisfies PersonalData;
