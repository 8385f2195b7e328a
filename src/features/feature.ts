import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import type { Config } from "../config/config.ts";
import type { Authenticator } from "../http/authenticate.ts";
import type { Inference } from "../inference/inference.ts";
import type { Logger } from "../observability/logger.ts";
import type { Database } from "../storage/database.ts";
import type { Caller } from "./accounts/caller.ts";
import type { BodyContent } from "./files/content-resolver.ts";

/** A part of the service, which `features/<name>/feature.ts` opens: its routes and its life. */
export interface Feature {
  /** Routes without authentication, or with their own. */
  public?: readonly FastifyPluginAsync[];
  /** Routes below /v1 for the keys of projects. */
  project?: readonly FastifyPluginAsync[];
  /** Routes below /v1/organization for admin keys. */
  admin?: readonly FastifyPluginAsync[];
  /** Adds hooks, which run after those of the features before this one and before those of the scopes for keys. */
  addHooks?(app: FastifyInstance): void;
  /** Called once the service accepts requests. */
  start?(): void;
  /** Called when the service begins to stop: starts nothing further. */
  drain?(): void;
  /** Requests that run without a connection of their client. */
  runningCount?(): number;
}

/** What a feature is opened with. It registers with `lifetime` how to close what it opens. */
export interface FeatureParts {
  config: Config;
  database: Database;
  logger: Logger;
  lifetime: AsyncDisposableStack;
}

/** What routes for models use. */
export interface RouteParts {
  config: Config;
  inference: Inference;
  content: BodyContent;
  /** Authenticates every route of a scope; `authenticator` replaces that of the accounts. */
  authenticate: (scope: FastifyInstance, kind: Caller["kind"], authenticator?: Authenticator) => void;
}
