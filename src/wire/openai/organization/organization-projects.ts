import { z } from "zod";
import { unsupportedValue } from "../../../kernel/faults.ts";
import { lazy } from "../../../kernel/lazy.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";
import type { Project } from "../../openapi/organization-answers.ts";
import { PAGE_QUERY, queryBoolean, toSeconds, toSecondsOrNull } from "./organization-list.ts";

const name = z.string();
const residency = {
  external_key_id: z.string().nullish(),
  geography: z.string().nullish(),
  residency: z.string().nullish(),
};

export const ProjectCreateBody = named("ProjectCreateBody", z.strictObject({ name, ...residency }));
export const ProjectUpdateBody = named("ProjectUpdateBody", z.strictObject({ name: name.nullish(), ...residency }));
export const ProjectListQuery = lazy.strictObject(() => ({
  ...PAGE_QUERY,
  include_archived: queryBoolean().default(false),
}));

/** Throws a Fault for data residency and external keys: data stays on this machine and its database. */
export function refuseResidency(body: z.output<typeof ProjectUpdateBody>): void {
  for (const field of ["external_key_id", "geography", "residency"] as const) {
    const isDefault =
      body[field] === undefined || body[field] === null || (field === "residency" && body[field] === "GLOBAL");
    if (!isDefault)
      throw unsupportedValue(`'${field}' is not supported: data stays where this service runs. Leave it out.`, field);
  }
}

export function toProject(project: {
  id: string;
  name: string;
  createdAt: number;
  archivedAt: number | null;
}): AnswerOf<typeof Project> {
  return {
    id: project.id,
    object: "organization.project" as const,
    name: project.name,
    created_at: toSeconds(project.createdAt),
    archived_at: toSecondsOrNull(project.archivedAt),
    status: project.archivedAt === null ? "active" : "archived",
    external_key_id: null,
  };
}
