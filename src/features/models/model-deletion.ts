/** DELETE /v1/models/{model}: removes a model that was added or pulled, not one of the configuration file. */

import type { FastifyPluginAsync } from "fastify";
import type { Catalog } from "../../catalog/catalog.ts";
import { operation, routes } from "../../http/operation.ts";
import { Fault, invalidRequest, modelNotFound } from "../../kernel/faults.ts";
import type { ModelStore } from "../../model-store/model-store.ts";
import { deleted } from "../../wire/openapi/list-answers.ts";
import { type Accounts, type Actor, actorOf } from "../accounts/index.ts";
import type { ModelOperations } from "./model-operations.ts";

/** What is needed of the configuration. */
export interface ModelEntries {
  list(kind: "model"): readonly { name: string; source: "file" | "api" }[];
  remove(
    request: { actor: Actor; organizationId: string; reason: undefined; ifVersion: undefined },
    kind: "model",
    name: string,
  ): Promise<void>;
}

interface DeletionParts {
  accounts: {
    organizations: Pick<Accounts["organizations"], "isDefault">;
    auditTrail: Pick<Accounts["auditTrail"], "record">;
    transactions: Pick<Accounts["transactions"], "checkAuthor">;
  };
  catalog: Catalog;
  entries: ModelEntries;
  operations: Pick<ModelOperations, "remove">;
  store: ModelStore;
}

export function modelDeletion({ accounts, catalog, entries, operations, store }: DeletionParts): FastifyPluginAsync {
  return routes(
    operation(
      "DELETE /models/*",
      {
        summary:
          "Deletes a model that was added through the API, or the files of one that was pulled; running requests end normally. Admin keys of the default organization only.",
        tag: "Models",
        permission: "admin",
        requires: "organization.models.write",
        wildcard: "model",
        answer: deleted("model"),
      },
      async ({ params, caller: { organizationId }, request }) => {
        const id = params["*"];
        // Models belong to the installation: deleting one affects all organizations.
        if (!(await accounts.organizations.isDefault(organizationId))) throw modelNotFound(id);
        const actor = actorOf(request);
        await accounts.transactions.checkAuthor(actor);
        const sources = entries.list("model").flatMap(({ name, source }) => (name === id ? [source] : []));
        if (sources.includes("file")) throw configured(id);
        if (sources.includes("api")) {
          await entries.remove({ actor, organizationId, reason: undefined, ifVersion: undefined }, "model", id);
        } else if ((await store.list()).some((stored) => stored.id === id)) {
          await operations.remove(id);
          await accounts.auditTrail.record(actor, {
            type: "model.deleted",
            organizationId,
            resourceId: id,
            details: {},
          });
        } else {
          throw notDeletable(id, catalog);
        }
        return { object: "model" as const, id, deleted: true };
      },
    ),
  );
}

function configured(id: string): Fault {
  const message = `The model \`${id}\` is in parlance.yaml, which this service does not change: the operator can remove it there.`;
  return new Fault("forbidden", message, { param: "model", code: "model_not_deletable" });
}

/** Deletes the model of an alias, too, under its own ID. */
function notDeletable(id: string, catalog: Catalog): Fault {
  const match = catalog.findFallback(id);
  if (match === undefined) return modelNotFound(id);
  if (match.model.id !== id) {
    return invalidRequest(`\`${id}\` is another name of \`${match.model.id}\`: delete that.`, "model", "invalid_value");
  }
  const message = `The model \`${id}\` was neither added through the API nor pulled: it comes with the service or from an upstream, and nothing of it can be deleted.`;
  return new Fault("forbidden", message, { param: "model", code: "model_not_deletable" });
}
