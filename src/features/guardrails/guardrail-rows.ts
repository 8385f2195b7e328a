import type { PersonalData } from "../../storage/personal-data.ts";

/** Guardrails of a project. Its moderation policy has a separate table, which older replicas read. */
export interface ProjectGuardrailsRow {
  projectId: string;
  /** The list as JSON, in the form of the API. */
  guardrails: string;
  updatedAt: number;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    projectGuardrails: ProjectGuardrailsRow;
  }
}

export const projectGuardrailData = {
  projectGuardrails: {
    reason: "Settings of projects.",
    impersonal: { guardrails: "Rules, which an erasure must not weaken." },
  },
} as const satisfies PersonalData;
