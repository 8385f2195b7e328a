import type { InProcessModule } from "../define-engine.ts";
import { NativeChat } from "../native-upstream/native-chat.ts";
import { NativeEmbedding } from "../native-upstream/native-embedding.ts";
import { Connections } from "../openai-compatible/connection/connections.ts";
import { geminiDialect } from "./gemini-dialect.ts";
import { geminiEmbeddings } from "./gemini-embeddings.ts";
import { openServiceAccount } from "./service-account.ts";
import type { GeminiSettings } from "./settings.ts";

/** Opens the model without a request to the provider. */
export const open: InProcessModule<GeminiSettings>["open"] = async (settings, task, services) => {
  const { name, catalogId, logger } = services;
  const { serviceAccountFile } = settings;
  const authorize = serviceAccountFile === undefined ? undefined : await openServiceAccount(serviceAccountFile, name);
  const options = { name, catalogId, settings, logger, authorize, connections: await Connections.open(settings) };
  if (task === "embedding") return new NativeEmbedding({ ...options, dialect: geminiEmbeddings(settings) });
  return new NativeChat({ ...options, dialect: geminiDialect(settings) });
};
