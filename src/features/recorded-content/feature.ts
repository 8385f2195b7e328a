import type { Caller } from "../../contracts/caller.ts";
import type { Feature } from "../../http/feature.ts";
import type { GuardrailServices } from "../../inference/guardrails/guardrail-services.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { Metrics } from "../../observability/metrics.ts";
import { openContentKeys } from "../../storage/content-keys.ts";
import type { Database } from "../../storage/database.ts";
import type { Accounts } from "../accounts/index.ts";
import type { UsageStorage } from "../usage/index.ts";
import { contentRetention } from "./content-retention.ts";
import { ContentSizes } from "./content-sizes.ts";
import { ContentWriter } from "./content-writer.ts";
import { recordedContentMetrics } from "./metrics.ts";
import { RecordedContents } from "./recorded-contents.ts";
import { maxBytesOf, projectRecording } from "./recording-policy.ts";
import { requestContent } from "./request-content-routes.ts";
import { feedbackRetention, RequestFeedbacks } from "./request-feedback.ts";
import { SealedContents } from "./sealed-content.ts";
import { SearchTokens } from "./search-tokens.ts";
import { storedCompletions } from "./stored-completion-routes.ts";
import { StoredCompletions } from "./stored-completions.ts";

interface ContentParts {
  config: Settings;
  database: Database;
  logger: Logger;
  lifetime: AsyncDisposableStack;
  /** Left out: a command records nothing. */
  metrics?: Pick<Metrics, "registry">;
  accounts: Accounts;
  guardrailServices: GuardrailServices;
}

/** Opens recorded content; undefined where there is no key to encrypt it. */
export function openRecordedContent(parts: ContentParts): RecordedContents | undefined {
  const { config, database, logger, lifetime, metrics, accounts, guardrailServices: services } = parts;
  const { recordedContent: settings } = config;
  const keyring = openContentKeys(parts, "recorded content and chat completions");
  if (keyring === undefined) return undefined;
  const sealed = new SealedContents(keyring, logger);
  const tokens = new SearchTokens(keyring);
  const sizes = new ContentSizes({ database, maxBytesOf: (projectId) => maxBytesOf(database, projectId) });
  const recordingOf = (caller: Caller) => accounts.callers.policyOf(caller, "recording");
  const writer = new ContentWriter({
    ...{ database, sealed, tokens, sizes, settings, services, recordingOf, logger },
    onLost: metrics === undefined ? () => {} : recordedContentMetrics(metrics.registry),
  });
  lifetime.defer(() => writer.close());
  lifetime.use(contentRetention({ database, keyring, sealed, tokens, logger }));
  const completions = settings.storeCompletions
    ? new StoredCompletions({ database, sealed, writer, logger })
    : undefined;
  return new RecordedContents({ keyring, database, sealed, tokens, sizes, writer, completions });
}

interface RecordedContentParts {
  accounts: Accounts;
  config: Settings;
  database: Database;
  lifetime: AsyncDisposableStack;
  logger: Logger;
  recorded: RecordedContents | undefined;
  usage: Pick<UsageStorage, "history">;
}

/** What projects record, and what was recorded. */
export function recordedContentFeature(parts: RecordedContentParts): Feature {
  const { accounts, config, database, lifetime, logger, recorded, usage } = parts;
  const feedback = new RequestFeedbacks(database, recorded?.keyring);
  lifetime.use(feedbackRetention(database, logger, config.usage.requestDays));
  return {
    project: [storedCompletions(recorded?.completions)],
    admin: [
      projectRecording(accounts, recorded),
      requestContent({ accounts, history: usage.history, recorded, feedback }),
    ],
  };
}
