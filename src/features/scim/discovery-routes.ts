import type { FastifyInstance } from "fastify";
import { operation } from "../../http/operation.ts";
import { Fault } from "../../kernel/faults.ts";
import {
  ScimDiscovery,
  ScimList,
  toResourceTypes,
  toSchemas,
  toScimList,
  toServiceProviderConfig,
} from "../../wire/scim/resources.ts";
import { baseOf, SCIM_OPERATION } from "./scim-operation.ts";

interface OfEntry {
  Params: { id: string };
}

/** What SCIM clients read to learn what the service can do. */
export async function discovery(app: FastifyInstance): Promise<void> {
  app.get(
    "/ServiceProviderConfig",
    operation({ ...SCIM_OPERATION, summary: "Says what the service supports of SCIM.", answer: ScimDiscovery }),
    async (request) => toServiceProviderConfig(baseOf(request)),
  );

  for (const [path, what, read] of [
    ["/ResourceTypes", "resource type", toResourceTypes],
    ["/Schemas", "schema", toSchemas],
  ] as const) {
    app.get(
      path,
      operation({ ...SCIM_OPERATION, summary: `Lists the ${what}s.`, answer: ScimList }),
      async (request) => {
        const entries = read(baseOf(request));
        return toScimList(entries, entries.length, 0);
      },
    );

    app.get<OfEntry>(
      `${path}/:id`,
      operation({ ...SCIM_OPERATION, summary: `Retrieves a ${what}.`, answer: ScimDiscovery }),
      async (request) => {
        const { id } = request.params;
        const entry = read(baseOf(request)).find((each) => each.id === id);
        if (entry === undefined) throw new Fault("not-found", `There is no ${what} \`${id.slice(0, 200)}\`.`);
        return entry;
      },
    );
  }
}
