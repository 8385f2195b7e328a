import type { AuthenticateScope } from "../../http/authenticate.ts";
import { connectionTimeoutMs } from "../../http/bare-server.ts";
import { cutSlowReaders } from "../../http/connections.ts";
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
  authenticate: AuthenticateScope;
  accounts: Accounts;
}

/** Ollama's API, where the operator enabled it. */
export function ollamaFeature({ config, inference, authenticate, accounts }: OllamaParts): Feature {
  if (!config.ollama.enabled) return {};
  return {
    addHooks: answerAsOllama,
    public: [
      async (app) => {
        app.register(
          async (scope) => {
            cutSlowReaders(scope, connectionTimeoutMs(config.server) / 1000);
            requireLocalHost(scope, config.ollama.anonymousHosts);
            authenticate(scope, "project", withAnonymous(accounts));
            scope.register(ollama(inference, config.server.unknownFields));
          },
          { prefix: "/api" },
        );
      },
    ],
  };
}
