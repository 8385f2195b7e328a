/** Pages of users or groups that a filter selects. */

import type { AnswerOf } from "../../wire/openapi/named.ts";
import type { ResourceType } from "../../wire/scim/attributes.ts";
import { type ListRequest, select } from "../../wire/scim/resources.ts";
import type { ScimResource } from "../../wire/scim/scim-answers.ts";
import { type Filter, matches, parseFilter, requiredValue } from "../../wire/scim/scim-filter.ts";
import type { Lookup } from "./scim-queries.ts";

/** Rows that are read at once when a filter has to look at each one. */
const BATCH = 500;

type Resource = AnswerOf<typeof ScimResource>;

/** How to read resources of one type. */
export interface ResourceSource {
  type: ResourceType;
  count(): Promise<number>;
  /** Lists resources in the order of their creation. */
  list(lookup: Lookup, slice: { offset: number; limit: number }): Promise<Resource[]>;
}

interface ListedResources {
  resources: Resource[];
  total: number;
}

/** Lists a page of a source. Throws a Fault for a filter that cannot be read. */
export async function listResources(source: ResourceSource, request: ListRequest): Promise<ListedResources> {
  const { offset, count, selection, filter: text } = request;
  const page =
    text === undefined
      ? {
          total: await source.count(),
          resources: count === 0 ? [] : await source.list({}, { offset, limit: count }),
        }
      : await listMatching(source, parseFilter(text), request);
  return { ...page, resources: page.resources.map((resource) => select(source.type, resource, selection)) };
}

async function listMatching(
  source: ResourceSource,
  filter: Filter,
  { offset, count }: ListRequest,
): Promise<ListedResources> {
  const lookup = toLookup(filter);
  const resources: Resource[] = [];
  let total = 0;
  for (let read = 0; ; read += BATCH) {
    const batch = await source.list(lookup, { offset: read, limit: BATCH });
    for (const resource of batch) {
      if (!matches(filter, resource)) continue;
      if (total >= offset && resources.length < count) resources.push(resource);
      total += 1;
    }
    if (batch.length < BATCH) return { resources, total };
  }
}

function toLookup(filter: Filter): Lookup {
  return {
    id: requiredValue(filter, ["id"]),
    externalId: requiredValue(filter, ["externalid"]),
    userName: requiredValue(filter, ["username"]),
    displayName: requiredValue(filter, ["displayname"]),
  };
}
