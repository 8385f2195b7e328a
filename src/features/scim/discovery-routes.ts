import { operation, routes } from "../../http/operation.ts";
import { Fault } from "../../kernel/faults.ts";
import { toResourceTypes, toSchemas, toScimList, toServiceProviderConfig } from "../../wire/scim/resources.ts";
import { ScimDiscovery, ScimList, ScimServiceProviderConfig } from "../../wire/scim/scim-answers.ts";
import { baseOf, SCIM_OPERATION } from "./scim-operation.ts";

/** What SCIM clients read to learn what the service can do. */
export const discovery = routes(
  operation(
    "GET /ServiceProviderConfig",
    { ...SCIM_OPERATION, summary: "Says what the service supports of SCIM.", answer: ScimServiceProviderConfig },
    async ({ request }) => toServiceProviderConfig(baseOf(request)),
  ),
  ...listed("/ResourceTypes", "resource type", toResourceTypes),
  ...listed("/Schemas", "schema", toSchemas),
);

function listed(path: string, what: string, read: typeof toResourceTypes | typeof toSchemas) {
  return [
    operation(
      `GET ${path}`,
      { ...SCIM_OPERATION, summary: `Lists the ${what}s.`, answer: ScimList },
      async ({ request }) => {
        const entries = read(baseOf(request));
        return toScimList(entries, entries.length, 0);
      },
    ),
    operation(
      `GET ${path}/:id`,
      { ...SCIM_OPERATION, summary: `Retrieves a ${what}.`, answer: ScimDiscovery },
      async ({ params, request }) => {
        const { id } = params;
        const entry = read(baseOf(request)).find((each) => each.id === id);
        if (entry === undefined) throw new Fault("not-found", `There is no ${what} \`${id.slice(0, 200)}\`.`);
        return entry;
      },
    ),
  ];
}
