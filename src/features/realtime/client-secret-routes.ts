import type { FastifyPluginAsync } from "fastify";
import { parse } from "../../wire/openai/validate.ts";
import { ClientSecretBody, DEFAULT_SECRET_SECONDS, toClientSecret } from "../../wire/realtime/client-secret.ts";
import { defaultSettings, type SessionConfiguration, updateSettings } from "../../wire/realtime/session-settings.ts";
import type { Accounts } from "../accounts/accounts.ts";
import { checkModels } from "./check-models.ts";
import type { RealtimeServices } from "./session-context.ts";

/** POST /v1/realtime/client_secrets */
export function realtimeClientSecrets(accounts: Accounts, services: RealtimeServices): FastifyPluginAsync {
  return async (app) => {
    app.post("/realtime/client_secrets", async (request) => {
      const { caller } = request;
      const body = parse(ClientSecretBody, request.body ?? {});
      const session: SessionConfiguration = body.session ?? { type: "realtime" };
      const settings = updateSettings(defaultSettings(session.type), session);
      // The client may name the model in its URL.
      if (session.type === "transcription" || settings.model !== undefined) checkModels(caller, settings, services);
      await services.inference.admit(caller);
      const seconds = body.expires_after?.seconds ?? DEFAULT_SECRET_SECONDS;
      const { secret, expiresAt } = await accounts.clientSecrets.create(caller, JSON.stringify(session), seconds);
      return toClientSecret(secret.reveal(), expiresAt, settings);
    });
  };
}
