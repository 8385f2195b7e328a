/** Definitions of routes: a route without one fails the start. */

import type { FastifyContextConfig, FastifyInstance } from "fastify";
import type { Operation, Permission, RegisteredOperation } from "../wire/openapi/operation.ts";
import type { ScopeKind } from "./authenticate.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    operation?: Operation;
  }
  interface FastifyInstance {
    /** Kind of the keys that the scope authenticates; undefined in a scope without keys. */
    authenticates?: ScopeKind;
  }
}

/** Options of a route: `app.get("/path", operation({ … }), handler)`. */
export function operation(definition: Operation, config: Omit<FastifyContextConfig, "operation"> = {}) {
  return { config: { ...config, operation: definition } };
}

/** Kind of key that the scope of an operation authenticates. */
const SCOPES: Readonly<Record<Permission, ScopeKind | undefined>> = {
  project: "project",
  admin: "admin",
  "admin-or-project": "admin",
  operator: "operator",
  "optional-admin": undefined,
  metrics: undefined,
  console: undefined,
  public: undefined,
};

/** Collects the operations of all routes added from now on. Throws for a route that has no permission, or another one than its scope checks. */
export function collectOperations(app: FastifyInstance): readonly RegisteredOperation[] {
  const operations: RegisteredOperation[] = [];
  app.addHook("onRoute", function ({ method, url, config }) {
    for (const each of [method].flat()) {
      if (each === "HEAD" || each === "OPTIONS") continue;
      const definition = config?.operation;
      if (definition === undefined) {
        throw new Error(`${each} ${url} has no permission: pass operation({ … }) as the route's options`);
      }
      if (this.authenticates !== SCOPES[definition.permission]) {
        const scope = this.authenticates === undefined ? "no keys" : `${this.authenticates} keys`;
        throw new Error(
          `${each} ${url} has the permission ${definition.permission}, but its scope authenticates ${scope}`,
        );
      }
      if (this.authenticates === "admin" && definition.requires === undefined) {
        throw new Error(`${each} ${url} does not name the permission that a user needs: set \`requires\``);
      }
      operations.push({ ...definition, method: each, path: toPathTemplate(url, definition) });
    }
  });
  return operations;
}

/** `/v1/files/:file` → `/v1/files/{file}`; `/v1/models/*` → `/v1/models/{model}` */
function toPathTemplate(url: string, { wildcard = "" }: Operation): string {
  return url.replace(/:(\w+)/g, "{$1}").replace(/\*$/, `{${wildcard}}`);
}
