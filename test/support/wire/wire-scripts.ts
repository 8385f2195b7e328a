/** Requests to every operation, by topic. */

import { batches } from "./batch-script.ts";
import { budgets } from "./budget-script.ts";
import { chat, cohereAndMistral, completions, gemini, messages, ollama } from "./chat-scripts.ts";
import { configuration } from "./configuration-script.ts";
import { evals } from "./evals-script.ts";
import { mcp } from "./mcp-script.ts";
import { audio, images, text } from "./media-scripts.ts";
import { organization } from "./organization-script.ts";
import { people } from "./people-script.ts";
import { prompts } from "./prompts-script.ts";
import { conversations, responses } from "./response-scripts.ts";
import { savedChats } from "./saved-chats-script.ts";
import { scim } from "./scim-script.ts";
import { models, service } from "./service-scripts.ts";
import { skills } from "./skills-script.ts";
import { vectorStores } from "./vector-store-script.ts";
import { webhooks } from "./webhooks-script.ts";
import type { WireScript } from "./wire-script.ts";

export const WIRE_SCRIPTS: Readonly<Record<string, WireScript>> = {
  chat,
  completions,
  messages,
  responses,
  conversations,
  ollama,
  gemini,
  "cohere-and-mistral": cohereAndMistral,
  text,
  audio,
  images,
  batches,
  models,
  organization,
  people,
  budgets,
  scim,
  configuration,
  prompts,
  "saved-chats": savedChats,
  "vector-stores": vectorStores,
  skills,
  mcp,
  evals,
  webhooks,
  service,
};
