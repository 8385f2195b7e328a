import { completions } from "../completions/routes.ts";
import type { Feature, ServiceParts } from "../feature.ts";
import { messages } from "../messages/routes.ts";
import { chatCompletions } from "./routes.ts";

/** Chats and text completions in the formats of OpenAI and Anthropic. */
export function chatFeature({ config, inference, content, recorded, tools }: ServiceParts): Feature {
  const { unknownFields } = config.server;
  return {
    project: [
      chatCompletions(inference, unknownFields, content, recorded?.completions),
      completions(inference, unknownFields),
      messages(inference, unknownFields, { content, tools, maxToolCalls: config.responses.maxToolCalls }),
    ],
  };
}
