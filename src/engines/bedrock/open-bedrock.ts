import type { InProcessModule } from "../define-engine.ts";
import { NativeChat } from "../native-upstream/native-chat.ts";
import { NativeEmbedding } from "../native-upstream/native-embedding.ts";
import { Connections } from "../openai-compatible/connection/connections.ts";
import { AwsCredentialSource } from "./aws-credentials.ts";
import { bedrockDialect } from "./bedrock-dialect.ts";
import { bedrockEmbeddings } from "./bedrock-embeddings.ts";
import type { BedrockSettings } from "./settings.ts";
import { signRequests } from "./sign-request.ts";

/** Opens the model without a request to the provider. */
export const open: InProcessModule<BedrockSettings>["open"] = async (settings, task, services) => {
  const { name, catalogId, logger } = services;
  const { apiKey, region } = settings;
  const authorize = apiKey === undefined ? signRequests(new AwsCredentialSource(settings, name), region) : undefined;
  const options = { name, catalogId, settings, logger, authorize, connections: await Connections.open(settings) };
  if (task === "embedding") return new NativeEmbedding({ ...options, dialect: bedrockEmbeddings(settings) });
  return new NativeChat({ ...options, dialect: bedrockDialect(settings) });
};
