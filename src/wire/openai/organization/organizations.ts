/** Organizations of the installation, which are not in OpenAI's API. */

import { z } from "zod";
import { type AnswerOf, named } from "../../openapi/named.ts";
import type {
  CreatedOrganization,
  Organization as OrganizationAnswer,
  OrganizationList,
  OwnOrganization,
} from "../../openapi/organization-answers.ts";
import { type ShownKey, toCreatedAdminApiKey } from "./organization-api-keys.ts";
import { toSeconds, toSecondsOrNull } from "./organization-list.ts";

export const OrganizationCreateBody = named("OrganizationCreateBody", z.strictObject({ name: z.string() }));

interface Organization {
  id: string;
  name: string;
  isDefault: number;
  createdAt: number;
  archivedAt: number | null;
}

export function toOrganization(organization: Organization): AnswerOf<typeof OrganizationAnswer> {
  return {
    id: organization.id,
    object: "organization" as const,
    name: organization.name,
    is_default: organization.isDefault === 1,
    created_at: toSeconds(organization.createdAt),
    archived_at: toSecondsOrNull(organization.archivedAt),
  };
}

export function toOrganizationList(organizations: readonly Organization[]): AnswerOf<typeof OrganizationList> {
  return { object: "list" as const, data: organizations.map(toOrganization) };
}

export function toCreatedOrganization({
  organization,
  adminKey,
}: {
  organization: Organization;
  adminKey: ShownKey;
}): AnswerOf<typeof CreatedOrganization> {
  return { ...toOrganization(organization), admin_api_key: toCreatedAdminApiKey(adminKey, undefined) };
}

export function toOwnOrganization(
  organization: Organization,
  defaultProject: { id: string; name: string } | undefined,
): AnswerOf<typeof OwnOrganization> {
  return {
    ...toOrganization(organization),
    default_project: defaultProject === undefined ? null : { id: defaultProject.id, name: defaultProject.name },
  };
}
