import { type Catalog, isWildcard } from "./catalog.ts";

const GROUP = "group:";

/**
 * Returns the stored form of a permission list's entry: an alias becomes the ID of its model, which stays valid when
 * the alias moves. Undefined for an entry that is not an ID, alias, wildcard or `group:` name in the catalog.
 */
export function resolvePermissionEntry(catalog: Catalog, entry: string): string | undefined {
  const models = [...catalog.models];
  if (entry.startsWith(GROUP)) {
    const group = entry.slice(GROUP.length);
    return models.some(({ accessGroups }) => accessGroups.includes(group)) ? entry : undefined;
  }
  if (isWildcard({ id: entry })) {
    const prefix = entry.slice(0, -1);
    const isCovered = models.some(({ id }) => id.startsWith(prefix)) || catalog.find(`${prefix}any`) !== undefined;
    return isCovered ? entry : undefined;
  }
  // Hidden models too: they answer by their aliases and as fallbacks, and an administrator must be able to deny them.
  return catalog.findFallback(entry)?.id;
}
