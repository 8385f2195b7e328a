/** Access of organizations and projects to models. */

/** Entries are a model's ID, a wildcard that ends in `/*`, or `group:` and the name of an access group. */
export interface ModelPermissions {
  mode: "allow_list" | "deny_list";
  modelIds: readonly string[];
}

export interface AccessedModel {
  id: string;
  /** Entries that name an alias apply to its model, however the request names it. */
  aliases: readonly string[];
  accessGroups: readonly string[];
}

/** Whether a caller may use a model. */
export type ModelAccess = (model: AccessedModel) => boolean;

/** Combines permissions: a model is allowed when all of `permissions` allow it; without any, all are. */
export function modelAccess(permissions: readonly ModelPermissions[]): ModelAccess {
  const rules = permissions.map(({ mode, modelIds }) => ({
    isAllowed: mode === "allow_list",
    names: sortOut(modelIds),
  }));
  return (model) => rules.every((rule) => isNamed(model, rule.names) === rule.isAllowed);
}

interface Names {
  ids: ReadonlySet<string>;
  prefixes: readonly string[];
  groups: ReadonlySet<string>;
}

const GROUP = "group:";

function sortOut(modelIds: readonly string[]): Names {
  const models = modelIds.filter((id) => !id.startsWith(GROUP));
  const groups = modelIds.filter((id) => id.startsWith(GROUP));
  return {
    ids: new Set(models),
    prefixes: models.filter((id) => id.endsWith("/*")).map((id) => id.slice(0, -1)),
    groups: new Set(groups.map((id) => id.slice(GROUP.length))),
  };
}

function isNamed(model: AccessedModel, names: Names): boolean {
  return (
    names.ids.has(model.id) ||
    model.aliases.some((alias) => names.ids.has(alias)) ||
    names.prefixes.some((prefix) => model.id.startsWith(prefix)) ||
    model.accessGroups.some((group) => names.groups.has(group))
  );
}
