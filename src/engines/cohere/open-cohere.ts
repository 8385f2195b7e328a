import type { InProcessModule } from "../define-engine.ts";
import { NativeChat } from "../native-upstream/native-chat.ts";
import { NativeEmbedding } from "../native-upstream/native-embedding.ts";
import { Connections } from "../openai-compatible/connection/connections.ts";
import { cohereDialect } from "./cohere-dialect.ts";
import { cohereEmbeddings } from "./cohere-embeddings.ts";
import type { CohereSettings } from "./settings.ts";

/** Opens the model without a request to the provider. */
export const open: InProcessModule<CohereSettings>["open"] = async (settings, task, services) => {
  const { name, catalogId, logger } = services;
  const options = { name, catalogId, settings, logger, connections: await Connections.open(settings) };
  if (task === "embedding") return new NativeEmbedding({ ...options, dialect: cohereEmbeddings(settings) });
  return new NativeChat({ ...options, dialect: cohereDialect(settings) });
};
