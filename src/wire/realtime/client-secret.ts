/** POST /v1/realtime/client_secrets */

import { z } from "zod";
import { newId } from "../../kernel/id.ts";
import { lazy } from "../../kernel/lazy.ts";
import { optional } from "../openai/optional.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import type { ClientSecret } from "./session-answers.ts";
import { SessionConfiguration, type SessionSettings, toSession } from "./session-settings.ts";

export const DEFAULT_SECRET_SECONDS = 600;

export const secretLifetime = optional(
  z.object({ anchor: z.literal("created_at").optional(), seconds: optional(z.int().min(10).max(7200)) }),
);

export const ClientSecretBody = named(
  "ClientSecretBody",
  lazy.object(() => ({
    expires_after: secretLifetime,
    session: optional(SessionConfiguration),
  })),
);

/** `expiresAt` is in epoch milliseconds. */
export function toClientSecret(
  value: string,
  expiresAt: number,
  settings: SessionSettings,
): AnswerOf<typeof ClientSecret> {
  // Names this configuration: each session that the secret opens has an ID of its own.
  const session = toSession(settings, { id: newId("sess_"), expiresAt: undefined });
  return { value, expires_at: Math.floor(expiresAt / 1000), session };
}
