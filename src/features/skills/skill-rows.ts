/** Rows of skills. Times are epoch milliseconds. */

import type { PersonalData } from "../../storage/personal-data.ts";

export interface SkillRow {
  id: string;
  projectId: string;
  /** Version of requests that name none. */
  defaultVersion: number;
  /** Highest number that a version ever had: numbers are not used again. */
  lastVersion: number;
  createdAt: number;
}

/** Version of a skill, which never changes; its bundle is in the blob store, under the IDs of both. */
export interface SkillVersionRow {
  id: string;
  skillId: string;
  projectId: string;
  /** From 1; 0 while the bundle is being stored or deleted. */
  version: number;
  name: string;
  description: string;
  /** Size of the bundle. */
  bytes: number;
  createdAt: number;
  /** Key that uploaded it. */
  createdBy: string | null;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    skills: SkillRow;
    skillVersions: SkillVersionRow;
  }
}

export const skillData = {
  skills: { reason: "Names and authors are those of their versions, in another table." },
} as const satisfies PersonalData;
