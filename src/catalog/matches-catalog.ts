import { type Catalog, isWildcard } from "./catalog.ts";

const GROUP = "group:";

/** Whether a permission's entry (a model's id, a wildcard, `group:` and a name) names something in the catalog. */
export function matchesCatalog(catalog: Catalog, entry: string): boolean {
  const models = [...catalog.models];
  if (entry.startsWith(GROUP)) {
    const group = entry.slice(GROUP.length);
    return models.some(({ accessGroups }) => accessGroups.includes(group));
  }
  if (isWildcard({ id: entry })) {
    const prefix = entry.slice(0, -1);
    return models.some(({ id }) => id.startsWith(prefix)) || catalog.find(`${prefix}any`) !== undefined;
  }
  return catalog.find(entry) !== undefined;
}
