import { connectionTimeoutMs } from "../../http/bare-server.ts";
import { cutSlowReaders } from "../../http/connections.ts";
import type { Feature, ServiceParts } from "../feature.ts";
import { withAnonymous } from "./anonymous.ts";
import { ollama } from "./ollama.ts";
import { requireLocalHost } from "./require-local-host.ts";
import { answerAsOllama } from "./running-notice.ts";

/** Ollama's API, where the operator enabled it. */
export function ollamaFeature({ config, inference, authenticate, accounts }: ServiceParts): Feature {
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
