import { join } from "node:path";
import { openKeyring } from "../../kernel/encryption/open-keyring.ts";
import type { BaseParts, Feature, ServiceParts } from "../feature.ts";
import { compactResponses } from "./compact-route.ts";
import { conversations } from "./conversation-routes.ts";
import { ResponseStorage } from "./response-storage.ts";
import { responses } from "./routes.ts";
import { storedResponses } from "./stored-response-routes.ts";

/** The Responses API, with its storage where there is a key to encrypt it. */
export function openResponses({ accounts, inference, content, tools, recorded, ...parts }: ServiceParts): Feature {
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
      storedResponses(storage),
      conversations(inference, storage),
    ],
    runningCount: () => storage?.background.runningCount ?? 0,
  };
}

/** Opens the keys of stored content; undefined, with the reason in the log, where there is none. */
export function openContentKeys(
  { config, database, logger }: Pick<BaseParts, "config" | "database" | "logger">,
  content?: string,
) {
  const { environment, dataDirectory } = config;
  const file = database.kind === "sqlite" ? join(dataDirectory, "encryption.key") : undefined;
  return openKeyring({ secrets: environment.PARLANCE_ENCRYPTION_KEY, file, logger, ...(content && { content }) });
}

/** Returns undefined where responses are not stored. */
function openStorage({
  config,
  database,
  logger,
  lifetime,
  outbox,
}: BaseParts & Pick<ServiceParts, "outbox">): ResponseStorage | undefined {
  const { responses: settings } = config;
  if (!settings.store) return undefined;
  const keyring = openContentKeys({ config, database, logger });
  if (keyring === undefined) return undefined;
  const maxContextBytes = config.server.maxBodyBytes;
  const storage = new ResponseStorage({ ...settings, database, keyring, logger, maxContextBytes, outbox });
  lifetime.defer(() => storage.close());
  return storage;
}
