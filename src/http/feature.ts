import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import type { Settings } from "../kernel/settings/settings.ts";
import type { Authenticator } from "./authenticate.ts";

/** A part of the service, which `features/<name>/feature.ts` opens: its routes and its life. */
export interface Feature {
  /** Routes without authentication, or with their own. */
  public?: readonly FastifyPluginAsync[];
  /** Routes below /v1 for the keys of projects. */
  project?: readonly FastifyPluginAsync[];
  /** Routes below /v1 that take WebSockets, with their authentication. */
  sockets?: readonly FastifyPluginAsync[];
  /** Routes for the keys of projects that are not below /v1. */
  projectAt?: readonly ProjectRoutes[];
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

export interface ProjectRoutes {
  prefix: string;
  routes: readonly FastifyPluginAsync[];
  /** Adds hooks that run before keys are read. */
  beforeKeys?(scope: FastifyInstance): void;
  /** Replaces that of the accounts. */
  authenticator?: Authenticator;
}

interface LivePart {
  /** Throws a Fault for a configuration that could not be applied. */
  check?(config: Settings): void;
  /** Applies what has changed. Running requests keep what they began with. */
  apply(config: Settings): void;
}
