import type { Caller } from "../../contracts/caller.ts";
import type { AuthenticateScope } from "../../http/authenticate.ts";
import type { Feature } from "../../http/feature.ts";
import { InternalRequests } from "../../http/internal-requests.ts";
import { OpenSockets } from "../../http/sockets/open-sockets.ts";
import type { Inference } from "../../inference/inference.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { Metrics } from "../../observability/metrics.ts";
import { openContentKeys } from "../../storage/content-keys.ts";
import type { Database } from "../../storage/database.ts";
import { type Accounts, mayStore } from "../accounts/index.ts";
import type { BodyContent } from "../files/index.ts";
import type { RecordedContents } from "../recorded-content/index.ts";
import type { ServiceTools } from "../tools/index.ts";
import type { WebhookOutbox } from "../webhooks/index.ts";
import { compactResponses } from "./compact-route.ts";
import { type ResponseSocketParts, responseSocket } from "./connection/socket-route.ts";
import { UnstoredResponses } from "./connection/unstored-responses.ts";
import { conversations } from "./conversation-routes.ts";
import { responseMetrics } from "./metrics.ts";
import { ResponseStorage } from "./response-storage.ts";
import { responses } from "./routes.ts";
import { storedResponses } from "./stored-response-routes.ts";

interface ResponsesParts {
  accounts: Accounts;
  authenticate: AuthenticateScope;
  metrics: Metrics;
  inference: Inference;
  content: BodyContent;
  tools: ServiceTools;
  recorded: RecordedContents | undefined;
}

interface StorageParts {
  config: Settings;
  database: Database;
  logger: Logger;
  lifetime: AsyncDisposableStack;
  outbox: WebhookOutbox;
}

/** The Responses API, with its storage where there is a key to encrypt it. */
export function openResponses({
  accounts,
  authenticate,
  inference,
  content,
  tools,
  recorded,
  metrics,
  ...parts
}: ResponsesParts & StorageParts): Feature {
  const storage = openStorage(parts);
  const { maxConnectionsPerProject, maxConnectionSeconds } = parts.config.responses;
  const mayStoreOf = (caller: Caller) => mayStore(accounts.callers.policyOf(caller, "retention"));
  const requests = new InternalRequests("x-parlance-response-create");
  const sockets = new OpenSockets({
    maxPerProject: maxConnectionsPerProject,
    plural: "WebSockets of the Responses API",
    setting: "responses.max_connections_per_project",
    code: "too_many_connections",
  });
  responseMetrics(metrics.registry, () => sockets.size);
  const socketParts: ResponseSocketParts = {
    ...{ accounts, requests, sockets, maxConnectionSeconds },
    unstored: new UnstoredResponses(),
    isStoring: storage !== undefined,
  };
  return {
    addHooks: (app) => requests.addHooks(app),
    project: [
      responses(inference, parts.config.server.unknownFields, {
        storage,
        content,
        tools,
        recordContent: recorded && ((ended) => recorded.writer.record(ended)),
        mayStore: mayStoreOf,
        maxToolCalls: parts.config.responses.maxToolCalls,
        hostedTools: parts.config.responses.hostedTools,
        toBackground: (caller) => accounts.callers.withPriority(caller, "background"),
      }),
      compactResponses(inference, parts.config.server.unknownFields, storage, content),
      storedResponses(storage, accounts),
      conversations(storage, mayStoreOf),
    ],
    sockets: [
      async (scope) => {
        authenticate(scope, "project");
        scope.register(responseSocket(socketParts));
      },
    ],
    drain: () => sockets.drain(),
    runningCount: () => storage?.background.runningCount ?? 0,
  };
}

/** Returns undefined where responses are not stored. */
function openStorage({ config, database, logger, lifetime, outbox }: StorageParts): ResponseStorage | undefined {
  const { responses: settings } = config;
  if (!settings.store) return undefined;
  const keyring = openContentKeys({ config, database, logger });
  if (keyring === undefined) return undefined;
  const maxContextBytes = config.server.maxBodyBytes;
  const storage = new ResponseStorage({ ...settings, database, keyring, logger, maxContextBytes, outbox });
  lifetime.defer(() => storage.close());
  return storage;
}
