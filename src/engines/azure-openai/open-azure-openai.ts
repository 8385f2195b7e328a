import type { InProcessModule } from "../define-engine.ts";
import { bearerTokens } from "../native-upstream/access-token.ts";
import { UpstreamChat } from "../openai-compatible/chat/upstream-chat.ts";
import { Connections } from "../openai-compatible/connection/connections.ts";
import { UpstreamEmbedding } from "../openai-compatible/upstream-embedding.ts";
import { UpstreamImage } from "../openai-compatible/upstream-image.ts";
import type { AzureOpenAiSettings, EntraId } from "./settings.ts";

/** Opens the model without a request to the provider. */
export const open: InProcessModule<AzureOpenAiSettings>["open"] = async (settings, task, services) => {
  const { name, catalogId, logger } = services;
  const { entraId } = settings;
  const authorize = entraId && bearerTokens(name, async () => toTokenRequest(entraId));
  const options = { name, catalogId, settings, logger, authorize, connections: await Connections.open(settings) };
  if (task === "image") return new UpstreamImage(options);
  return task === "embedding" ? new UpstreamEmbedding(options) : new UpstreamChat(options);
};

/** Client credentials grant (RFC 6749, 4.4). */
function toTokenRequest({ authority, tenantId, clientId, clientSecret, scope }: EntraId) {
  return {
    url: `${authority}/${tenantId}/oauth2/v2.0/token`,
    form: {
      grant_type: "client_credentials",
      client_id: clientId,
      client_secret: clientSecret.reveal(),
      scope,
    },
  };
}
