import { accountExtensions } from "../serving/account-extensions.ts";
import { budgetedTags } from "../serving/budgeted-tags.ts";
import { PERSONAL_DATA } from "./personal-data.ts";
/** The service: its parts and features, opened one after the other. */

import { Catalog } from "../catalog/catalog.ts";
import { type CatalogOptions, openCatalog } from "../catalog/open-catalog.ts";
import type { Config } from "../config/config.ts";
import { openAccounts } from "../features/accounts/feature.ts";
import { openSpendAlerts } from "../features/budgets/feature.ts";
import { openCache } from "../features/cache/feature.ts";
import { openConfiguration } from "../features/configuration/feature.ts";
import type { ConfigurationSources } from "../features/configuration/live-configuration.ts";
import { openFiles } from "../features/files/feature.ts";
import { openGuardrails } from "../features/guardrails/feature.ts";
import { linkMailOf, openMail } from "../features/mail/feature.ts";
import { openMetrics, openOperations } from "../features/operations/feature.ts";
import { openQuota } from "../features/quota/feature.ts";
import { openRecordedContent } from "../features/recorded-content/feature.ts";
import { openChatKeys } from "../features/saved-chats/feature.ts";
import { openPasswords, openSignOn, openUserSessions } from "../features/sign-on/feature.ts";
import { openSkills } from "../features/skills/feature.ts";
import { ServiceTools } from "../features/tools/service-tools.ts";
import { openLabels, openUsage } from "../features/usage/feature.ts";
import { openOutbox, openWebhooks } from "../features/webhooks/feature.ts";
import { BodyMemory, bodyMemoryBytes } from "../http/body-memory.ts";
import type { Feature } from "../http/feature.ts";
import { openInference } from "../serving/open-inference.ts";
import { buildOperationsServer, buildServer } from "../serving/server.ts";
import { openConfiguredDatabase } from "../storage/configured-database.ts";
import { createWorkerPool } from "../workers/create-worker-pool.ts";
import { FEATURES } from "./features.ts";

export type App = Awaited<ReturnType<typeof openApp>>;

export interface AppOptions
  extends Omit<CatalogOptions, "catalog" | "database" | "lifetime" | "onEndpointLeft" | "onModels"> {
  config: Config;
  /** Builds the configurations that follow the first one. */
  sources: ConfigurationSources;
}

/**
 * Opens all parts, which do not listen yet, and registers with `lifetime` how to close them, also when it fails halfway.
 * Throws a Fault for settings that cannot work, such as an unusable folder.
 */
export async function openApp(options: AppOptions, lifetime: AsyncDisposableStack) {
  const { config, logger, store } = options;
  const catalog = new Catalog();
  const { metrics, telemetry } = await openMetrics({ config, logger, lifetime, catalog });
  const database = openConfiguredDatabase(config, logger);
  lifetime.defer(() => database.close());
  const base = { config, database, logger, lifetime, catalog, metrics };
  // Its workers start when the service listens; until then they have nothing to reload or report.
  const workers = await createWorkerPool(config, logger);
  const { counters, countWrongKey, passwordAttempts, selfServiceLimit } = await openQuota(base);
  const outbox = openOutbox(config);
  const mail = await openMail(base);
  const onChanged = async () => workers?.reloadKeys();
  const bodyMemory = new BodyMemory(bodyMemoryBytes(config.server.maxBodyBytes));
  const { accounts, authenticate } = openAccounts({
    bodyMemory,
    ...base,
    extensions: accountExtensions(outbox),
    mail: linkMailOf(mail),
    countWrongKey,
    countSelfService: (name) => selfServiceLimit.count(name),
    onChanged,
  });
  const userSessions = openUserSessions(config, accounts);
  const signOn = await openSignOn({ ...base, accounts, userSessions });
  const passwords = openPasswords(config, accounts, userSessions, passwordAttempts);
  const usage = openUsage({ ...base, counters });
  const { recorder, history, spentIn } = usage;
  // Counters are compared with what is recorded, once the shared ones are back.
  if ("beforeReturn" in counters) counters.beforeReturn(() => recorder.flush());
  const openCircuits = () => workers?.openCircuits() ?? new Set<string>();
  const webhooks = openWebhooks({ ...base, outbox, openCircuits });
  const onSpent = openSpendAlerts({ ...base, accounts, usage, outbox, mail });
  const live = openCatalog({
    ...options,
    ...base,
    onEndpointLeft: (deployment) => metrics.deploymentLeft(deployment),
    onModels: async () => workers?.apply(),
  });
  const features: Feature[] = [];
  const configuration = openConfiguration({
    ...base,
    sources: options.sources,
    check: async (next) => {
      await live.check(next);
      for (const feature of features) feature.live?.check?.(next);
    },
    apply: async (next) => {
      await live.apply(next);
      await workers?.apply(next);
      outbox.replace(next.webhooks);
      webhooks.update();
      for (const feature of features) feature.live?.apply(next);
      logger.level = next.logLevel;
    },
  });
  const cache = await openCache(base);
  const guardrails = openGuardrails(base);
  const recorded = openRecordedContent({ ...base, ...guardrails, accounts });
  const inference = openInference({
    answerCache: cache.answers,
    ...guardrails,
    settings: () => live.config ?? config,
    ...{ config, catalog, upstreamModels: live.upstreamModels, counters, metrics, spentIn, onSpent, logger },
    callers: accounts.callers,
    genAi: telemetry?.genAi,
    recordUsage: (record) => recorder.record(record),
    recordMirrored: (request) => {
      history.record(request.entry);
      if (request.recording !== undefined) recorded?.writer.record(request);
    },
  });
  const { files, content } = await openFiles({ ...base, inference, store }, bodyMemory);
  const operations = openOperations({ catalog, accounts, live }, async () => metrics.scrape(await workers?.measure()));
  const routes = { inference, content, authenticate };
  const tools = new ServiceTools((caller) => accounts.callers.policyOf(caller, "disabledTools"), bodyMemory);
  const parts = {
    ...{ ...base, ...routes, accounts, cache, configuration, countWrongKey, files, live, operations, outbox },
    ...{
      bodyMemory,
      chatKeys: openChatKeys(base),
      personalData: PERSONAL_DATA,
      passwords,
      recorded,
      signOn,
      skills: openSkills({ ...base, files }),
      store,
      tools,
      usage,
      userSessions,
      webhooks,
    },
  };
  for (const open of FEATURES) features.push(await open(parts));
  const server = buildServer({
    ...{ settings: config.server, features, authenticate, inference, logger },
    publicUrl: config.signOn.publicUrl,
    tracing: telemetry?.tracing,
    measure: (request) => metrics.request(request),
    recordRequest: (entry) => history.record(entry),
    recordContent: recorded && ((request) => recorded.writer.record(request)),
    labelRequests: openLabels(config, accounts, budgetedTags(accounts.callers)),
  });
  lifetime.defer(() => server.app.close());
  const operationsServer = config.server.operations && buildOperationsServer(operations, logger);
  lifetime.defer(() => operationsServer?.close());
  lifetime.defer(() => workers?.close());
  return {
    server,
    /** Health and metrics on a separate address, if configured. */
    operationsServer,
    accounts,
    inference,
    tools,
    bodyMemory,
    /** Undefined: this process serves everything. */
    workers,
    /** What workers ask this process for. */
    owner: { accounts, counters, recorder, history, live, spentIn, onSpent },
    readiness: operations.readiness,
    /** Starts what runs without requests. */
    start: () => {
      for (const feature of features) feature.start?.();
    },
    /** Applies the file and the entries of the API, and what changes of them. */
    configuration: configuration.live,
    greet: live.greet.bind(live),
    downloadDefaultModels: live.downloadDefaultModels.bind(live),
  };
}
