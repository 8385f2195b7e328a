import type { FastifyPluginAsync } from "fastify";
import { operation, routes } from "../../http/operation.ts";
import { reportIgnoredFields } from "../../http/report-ignored-fields.ts";
import { newId } from "../../kernel/id.ts";
import { ClientSecretBody, DEFAULT_SECRET_SECONDS, toClientSecret } from "../../wire/realtime/client-secret.ts";
import { ClientSecret } from "../../wire/realtime/session-answers.ts";
import {
  defaultSettings,
  ignoredSessionFields,
  type SessionConfiguration,
  updateSettings,
} from "../../wire/realtime/session-settings.ts";
import {
  ignoredTranslationFields,
  TranslationClientSecret,
  TranslationSecretBody,
  toTranslationSession,
  toTranslationSettings,
  toVoiceSettings,
} from "../../wire/realtime/translation-session.ts";
import { checkModels } from "./check-models.ts";
import type { ClientSecrets } from "./client-secrets.ts";
import type { RealtimeServices } from "./session-context.ts";

/** POST /v1/realtime/client_secrets and /v1/realtime/translations/client_secrets */
export function realtimeClientSecrets(secrets: ClientSecrets, services: RealtimeServices): FastifyPluginAsync {
  return routes(
    operation(
      "POST /realtime/client_secrets",
      {
        grants: "credential",
        summary: "Creates a short-lived secret with which a browser opens Realtime sessions.",
        tag: "Realtime",
        permission: "project",
        body: ClientSecretBody,
        isBodyOptional: true,
        answer: ClientSecret,
      },
      async ({ body, request, reply }) => {
        const { caller } = request;
        reportIgnoredFields(reply, ignoredSessionFields(Object(request.body).session));
        const session: SessionConfiguration = body.session ?? { type: "realtime" };
        const settings = updateSettings(defaultSettings(session.type), session);
        // The client may name the model in its URL.
        if (session.type === "transcription" || settings.model !== undefined) checkModels(caller, settings, services);
        const seconds = body.expires_after?.seconds ?? DEFAULT_SECRET_SECONDS;
        const { secret, expiresAt } = await secrets.create(request, JSON.stringify(session), seconds);
        return toClientSecret(secret.reveal(), expiresAt, settings);
      },
    ),
    operation(
      "POST /realtime/translations/client_secrets",
      {
        grants: "credential",
        summary: "Creates a short-lived secret with which a browser opens sessions that translate speech.",
        tag: "Realtime",
        permission: "project",
        body: TranslationSecretBody,
        answer: TranslationClientSecret,
      },
      async ({ body, request, reply }) => {
        const { caller } = request;
        const { session } = body;
        reportIgnoredFields(reply, ignoredTranslationFields(Object(request.body).session));
        const settings = toTranslationSettings(session);
        checkModels(caller, toVoiceSettings(settings, undefined), services);
        const seconds = body.expires_after?.seconds ?? DEFAULT_SECRET_SECONDS;
        const configuration = JSON.stringify({ ...session, type: "translation" });
        const { secret, expiresAt } = await secrets.create(request, configuration, seconds);
        return {
          value: secret.reveal(),
          expires_at: Math.floor(expiresAt / 1000),
          session: toTranslationSession(settings, { id: newId("sess_"), expiresAt: undefined }),
        };
      },
    ),
  );
}
