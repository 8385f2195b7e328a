import type { FastifyPluginAsync } from "fastify";
import { operation, routes } from "../../http/operation.ts";
import type { CacheStore } from "../../inference/cache/cache-store.ts";
import { CachePurgeQuery, toCacheStatus, toPurgeFilter } from "../../wire/openai/organization/organization-cache.ts";
import { CachePurge, CacheStatus } from "../../wire/openapi/organization-answers.ts";
import { type Accounts, actorOf } from "../accounts/index.ts";

/** GET and DELETE /v1/organization/cache */
export function cacheRoutes(accounts: Accounts, store: CacheStore): FastifyPluginAsync {
  return routes(
    operation(
      "GET /cache",
      {
        summary: "Counts the cached answers of the organization and their bytes. Not in OpenAI's API.",
        tag: "Organization",
        permission: "admin",
        requires: "organization.read",
        answer: CacheStatus,
      },
      async ({ caller }) => toCacheStatus(await store.size(caller.organizationId)),
    ),
    operation(
      "DELETE /cache",
      {
        summary:
          "Removes cached answers of the organization: one by its key, those of a project, of a model, or all. Not in OpenAI's API.",
        tag: "Organization",
        permission: "admin",
        requires: "organization.write",
        query: CachePurgeQuery,
        answer: CachePurge,
      },
      async ({ query, caller, request }) => {
        const { organizationId } = caller;
        const actor = actorOf(request);
        await accounts.transactions.checkAuthor(actor);
        const purged = await store.purge({ ...toPurgeFilter(query), organizationId });
        await accounts.auditTrail.record(actor, {
          type: "cache.purged",
          organizationId,
          resourceId: query.key ?? query.project_id ?? query.model ?? organizationId,
          details: { ...query, purged },
        });
        return { object: "organization.cache.purged" as const, purged };
      },
    ),
  );
}
