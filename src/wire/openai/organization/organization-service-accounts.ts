import { z } from "zod";
import { invalidRequest } from "../../../kernel/faults.ts";
import { lazy } from "../../../kernel/lazy.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";
import type {
  CreatedServiceAccount,
  ServiceAccount as ServiceAccountAnswer,
} from "../../openapi/organization-answers.ts";
import { EXPIRES_IN_SECONDS, type ShownKey, toCreatedServiceAccountKey } from "./organization-api-keys.ts";
import { PAGE_QUERY, toSeconds } from "./organization-list.ts";

export const ServiceAccountCreateBody = named(
  "ServiceAccountCreateBody",
  lazy.strictObject(() => ({
    name: z.string(),
    create_service_account_only: z.boolean().nullish(),
    expires_in_seconds: EXPIRES_IN_SECONDS.nullish(),
  })),
);
export const ServiceAccountUpdateBody = named(
  "ServiceAccountUpdateBody",
  lazy.strictObject(() => ({
    name: z.string().optional(),
    role: z.enum(["member", "owner"]).optional(),
  })),
);
export const ServiceAccountListQuery = z.strictObject(PAGE_QUERY);

/** Returns the options of the first key, undefined without one. */
export function toFirstKey(body: z.output<typeof ServiceAccountCreateBody>) {
  const expiresInSeconds = body.expires_in_seconds ?? undefined;
  if (body.create_service_account_only !== true) return { expiresInSeconds };
  if (expiresInSeconds === undefined) return undefined;
  const message =
    "'expires_in_seconds' applies to the first key, which 'create_service_account_only' does not create. Send one of them.";
  throw invalidRequest(message, "expires_in_seconds", "invalid_value");
}

interface ServiceAccount {
  id: string;
  name: string;
  role: "owner" | "member" | "none";
  createdAt: number;
}

export function toServiceAccount(account: ServiceAccount): AnswerOf<typeof ServiceAccountAnswer> {
  return {
    id: account.id,
    object: "organization.project.service_account" as const,
    name: account.name,
    role: account.role,
    created_at: toSeconds(account.createdAt),
  };
}

export function toCreatedServiceAccount(
  account: ServiceAccount,
  key: ShownKey | undefined,
): AnswerOf<typeof CreatedServiceAccount> {
  return { ...toServiceAccount(account), api_key: key === undefined ? null : toCreatedServiceAccountKey(key) };
}
