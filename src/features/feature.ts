import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import type { Catalog } from "../catalog/catalog.ts";
import type { LiveCatalog } from "../catalog/live-catalog.ts";
import type { Config } from "../config/config.ts";
import type { Authenticator, CountWrongKey, ScopeKind } from "../http/authenticate.ts";
import type { Inference } from "../inference/inference.ts";
import type { ModelStore } from "../model-store/model-store.ts";
import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { Database } from "../storage/database.ts";
import type { Accounts } from "./accounts/accounts.ts";
import type { CacheStorage } from "./cache/cache-storage.ts";
import type { OpenConfiguration } from "./configuration/entries.ts";
import type { BodyContent } from "./files/content-resolver.ts";
import type { FileStorage } from "./files/file-storage.ts";
import type { Operations } from "./operations/operations.ts";
import type { RecordedContents } from "./recorded-content/recorded-contents.ts";
import type { ChatKeys } from "./saved-chats/sealed-chats.ts";
import type { Passwords } from "./sign-on/passwords.ts";
import type { SignOn } from "./sign-on/sign-on.ts";
import type { ServiceTools } from "./tools/service-tools.ts";
import type { UsageStorage } from "./usage/usage-storage.ts";
import type { WebhookOutbox } from "./webhooks/webhook-outbox.ts";

/** A part of the service, which `features/<name>/feature.ts` opens: its routes and its life. */
export interface Feature {
  /** Routes without authentication, or with their own. */
  public?: readonly FastifyPluginAsync[];
  /** Routes below /v1 for the keys of projects. */
  project?: readonly FastifyPluginAsync[];
  /** Routes below /v1/organization for admin keys. */
  admin?: readonly FastifyPluginAsync[];
  /** Routes below /v1/projects, for admin keys, too. */
  adminOfProjects?: readonly FastifyPluginAsync[];
  /** Routes below /v1/organizations for commands of the operator. */
  operator?: readonly FastifyPluginAsync[];
  /** Adds hooks, which run after those of the features before this one and before those of the scopes for keys. */
  addHooks?(app: FastifyInstance): void;
  /** Called once the service accepts requests. */
  start?(): void;
  /** Takes part in changes of the configuration while the service runs. */
  live?: LivePart;
  /** Called when the service begins to stop: starts nothing further. */
  drain?(): void;
  /** Requests that run without a connection of their client. */
  runningCount?(): number;
}

interface LivePart {
  /** Throws a Fault for a configuration that could not be applied. */
  check?(config: Config): void;
  /** Applies what has changed. Running requests keep what they began with. */
  apply(config: Config): void;
}

/** The parts that open first. What opens later registers with `lifetime` how to close it. */
export interface BaseParts {
  config: Config;
  database: Database;
  logger: Logger;
  lifetime: AsyncDisposableStack;
  catalog: Catalog;
  metrics: Metrics;
}

/** What routes for models use. */
export interface RouteParts {
  config: Config;
  inference: Inference;
  content: BodyContent;
  /** Authenticates every route of a scope; `authenticator` replaces that of the accounts. */
  authenticate: (scope: FastifyInstance, kind: ScopeKind, authenticator?: Authenticator) => void;
}

/** The service as its features find it; each one takes what it uses. */
export interface ServiceParts extends BaseParts, RouteParts {
  accounts: Accounts;
  cache: CacheStorage;
  configuration: OpenConfiguration;
  countWrongKey: CountWrongKey;
  files: FileStorage;
  live: LiveCatalog;
  operations: Operations;
  outbox: WebhookOutbox;
  /** Files of local models. */
  store: ModelStore;
  passwords: Passwords;
  /** Tools that the service runs within responses; features register theirs. */
  tools: ServiceTools;
  /** Content of requests; undefined: there is no key to encrypt it. */
  recorded: RecordedContents | undefined;
  /** Keys of saved chats; undefined: none are saved. */
  chatKeys: ChatKeys | undefined;
  /** Undefined: no provider is configured. */
  signOn: SignOn | undefined;
  usage: UsageStorage;
}

/** Opens a feature. Throws a Fault for settings that cannot work. */
export type OpenFeature = (parts: ServiceParts) => Feature | Promise<Feature>;
