import type { Feature } from "../../http/feature.ts";
import type { Inference } from "../../inference/inference.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { Accounts } from "../accounts/index.ts";
import { withAnonymous } from "./anonymous.ts";
import { ollama } from "./ollama.ts";
import { requireLocalHost } from "./require-local-host.ts";
import { answerAsOllama } from "./running-notice.ts";

interface OllamaParts {
  config: Settings;
  inference: Inference;
  accounts: Accounts;
}

/** Ollama's API, where the operator enabled it. */
export function ollamaFeature({ config, inference, accounts }: OllamaParts): Feature {
  if (!config.ollama.enabled) return {};
  return {
    addHooks: answerAsOllama,
    projectAt: [
      {
        prefix: "/api",
        routes: [ollama(inference, config.server.unknownFields)],
        beforeKeys: (scope) => requireLocalHost(scope, config.ollama.anonymousHosts),
        authenticator: withAnonymous(accounts),
      },
    ],
  };
}
