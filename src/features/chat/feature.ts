import type { Feature } from "../../http/feature.ts";
import type { Inference } from "../../inference/inference.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import { type Accounts, mayStore } from "../accounts/index.ts";
import { completions } from "../completions/index.ts";
import type { BodyContent } from "../files/index.ts";
import { messages } from "../messages/index.ts";
import type { RecordedContents } from "../recorded-content/index.ts";
import type { ServiceTools } from "../tools/index.ts";
import { chatCompletions } from "./routes.ts";

interface ChatParts {
  accounts: Accounts;
  config: Settings;
  inference: Inference;
  content: BodyContent;
  recorded: RecordedContents | undefined;
  tools: ServiceTools;
}

/** Chats and text completions in the formats of OpenAI and Anthropic. */
export function chatFeature({ accounts, config, inference, content, recorded, tools }: ChatParts): Feature {
  const { unknownFields } = config.server;
  const { maxToolCalls } = config.responses;
  return {
    project: [
      chatCompletions(inference, unknownFields, {
        ...{ content, stored: recorded?.completions, tools, maxToolCalls },
        mayStore: (caller) => mayStore(accounts.callers.policyOf(caller, "retention")),
      }),
      completions(inference, unknownFields),
      messages(inference, unknownFields, { content, tools, maxToolCalls }),
    ],
  };
}
