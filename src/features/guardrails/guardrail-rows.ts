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
