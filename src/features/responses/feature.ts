import type { Feature } from "../../http/feature.ts";
import type { Inference } from "../../inference/inference.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import { openContentKeys } from "../../storage/content-keys.ts";
import type { Database } from "../../storage/database.ts";
import type { Accounts } from "../accounts/index.ts";
import type { BodyContent } from "../files/index.ts";
import type { RecordedContents } from "../recorded-content/index.ts";
import type { ServiceTools } from "../tools/index.ts";
import type { WebhookOutbox } from "../webhooks/index.ts";
import { compactResponses } from "./compact-route.ts";
import { conversations } from "./conversation-routes.ts";
import { ResponseStorage } from "./response-storage.ts";
import { responses } from "./routes.ts";
import { storedResponses } from "./stored-response-routes.ts";

interface ResponsesParts {
  accounts: Accounts;
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
  inference,
  content,
  tools,
  recorded,
  ...parts
}: ResponsesParts & StorageParts): Feature {
  const storage = openStorage(parts);
  return {
    project: [
      responses(inference, parts.config.server.unknownFields, {
        storage,
        content,
        tools,
        recordContent: recorded && ((ended) => recorded.writer.record(ended)),
        maxToolCalls: parts.config.responses.maxToolCalls,
        hostedTools: parts.config.responses.hostedTools,
        toBackground: (caller) => accounts.callers.withPriority(caller, "background"),
      }),
      compactResponses(inference, parts.config.server.unknownFields, storage, content),
      storedResponses(storage, accounts),
      conversations(inference, storage),
    ],
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
