import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation, routes } from "../../http/operation.ts";
import { reportIgnoredFields } from "../../http/report-ignored-fields.ts";
import {
  BetaSession,
  BetaSessionBody,
  BetaTranscriptionSession,
  BetaTranscriptionSessionBody,
  ignoredBetaFields,
  toBetaSession,
  toBetaTranscriptionSession,
  toSessionConfiguration,
  toTranscriptionConfiguration,
} from "../../wire/realtime/beta-session.ts";
import { DEFAULT_SECRET_SECONDS } from "../../wire/realtime/client-secret.ts";
import { defaultSettings, type SessionConfiguration, updateSettings } from "../../wire/realtime/session-settings.ts";
import { throwRenamed } from "../../wire/rename-params.ts";
import { checkModels } from "./check-models.ts";
import type { ClientSecrets } from "./client-secrets.ts";
import type { RealtimeServices } from "./session-context.ts";

const DEFINITION = { grants: "credential", tag: "Realtime", permission: "project", isBodyOptional: true } as const;

/** POST /v1/realtime/sessions and /v1/realtime/transcription_sessions, the forms of the beta */
export function realtimeSessions(secrets: ClientSecrets, services: RealtimeServices): FastifyPluginAsync {
  const create = async (request: FastifyRequest, session: SessionConfiguration, seconds = DEFAULT_SECRET_SECONDS) => {
    const settings = updateSettings(defaultSettings(session.type), session);
    if (session.type === "transcription" || settings.model !== undefined) check(request.caller, settings, services);
    const { secret, expiresAt } = await secrets.create(request, JSON.stringify(session), seconds);
    return { settings, secret: { value: secret.reveal(), expiresAt } };
  };
  return routes(
    operation(
      "POST /realtime/sessions",
      {
        ...DEFINITION,
        summary: "Creates a client secret with the configuration of a session in the form of the beta.",
        body: BetaSessionBody,
        answer: BetaSession,
      },
      async ({ body, request, reply }) => {
        reportIgnoredFields(reply, ignoredBetaFields(request.body, BetaSessionBody));
        const { seconds } = body.client_secret?.expires_after ?? {};
        const { settings, secret } = await create(request, toSessionConfiguration(body), seconds);
        return toBetaSession(settings, secret);
      },
    ),
    operation(
      "POST /realtime/transcription_sessions",
      {
        ...DEFINITION,
        summary: "Creates a client secret with the configuration of a transcription session in the form of the beta.",
        body: BetaTranscriptionSessionBody,
        answer: BetaTranscriptionSession,
      },
      async ({ body, request, reply }) => {
        reportIgnoredFields(reply, ignoredBetaFields(request.body, BetaTranscriptionSessionBody));
        const { seconds } = body.client_secret?.expires_after ?? {};
        const { settings, secret } = await create(request, toTranscriptionConfiguration(body), seconds);
        return toBetaTranscriptionSession(settings, secret);
      },
    ),
  );
}

/** Throws a Fault with the names of the fields in the beta. */
function check(...[caller, settings, services]: Parameters<typeof checkModels>): void {
  try {
    checkModels(caller, settings, services);
  } catch (failure) {
    throwRenamed(failure, [
      [/^session\.audio\.input\.transcription\.model/, "input_audio_transcription.model"],
      [/^session\.model/, "model"],
    ]);
  }
}
