import type { InProcessModule } from "../define-engine.ts";
import { Connections } from "../openai-compatible/connection/connections.ts";
import { AnthropicChat } from "./anthropic-chat.ts";
import type { AnthropicSettings } from "./settings.ts";

/** Opens the model without a request to the provider. */
export const open: InProcessModule<AnthropicSettings>["open"] = async (settings, _task, services) => {
  const { name, catalogId, logger } = services;
  return new AnthropicChat({ name, catalogId, settings, logger, connections: await Connections.open(settings) });
};
