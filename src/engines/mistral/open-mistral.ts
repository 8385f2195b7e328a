import type { InProcessModule } from "../define-engine.ts";
import { NativeChat } from "../native-upstream/native-chat.ts";
import { NativeEmbedding } from "../native-upstream/native-embedding.ts";
import { Connections } from "../openai-compatible/connection/connections.ts";
import { mistralDialect } from "./mistral-dialect.ts";
import { mistralEmbeddings } from "./mistral-embeddings.ts";
import type { MistralSettings } from "./settings.ts";

/** Opens the model without a request to the provider. */
export const open: InProcessModule<MistralSettings>["open"] = async (settings, task, services) => {
  const { name, catalogId, logger } = services;
  const options = { name, catalogId, settings, logger, connections: await Connections.open(settings) };
  if (task === "embedding") return new NativeEmbedding({ ...options, dialect: mistralEmbeddings });
  return new NativeChat({ ...options, dialect: mistralDialect(settings) });
};
