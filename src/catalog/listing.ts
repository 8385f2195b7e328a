/** Lists the models that a caller may use. */

import type { ChatAbilities } from "../contracts/chat-model.ts";
import type { ModelDescription } from "../contracts/model-description.ts";
import type { Price } from "../contracts/price.ts";
import type { Task } from "../contracts/task.ts";
import { type Catalog, type CatalogModel, isWildcard, type ResolvedModel } from "./catalog.ts";
import type { UpstreamModels } from "./upstream-models.ts";

export interface ListedModel {
  id: string;
  /** Epoch milliseconds. */
  createdAt: number;
  ownedBy: string;
  accessGroups: readonly string[];
  facts: ModelFacts;
}

/** Undefined in any of these: not known. */
interface ModelFacts {
  task: Task;
  aliases: readonly string[];
  fallbacks: readonly string[];
  /** US dollars as decimal strings, by unit. */
  price: Price;
  license: string | undefined;
  status: "available" | "loading" | "unavailable";
  /** True if a deployment can answer without loading its model first. */
  isLoaded: boolean;
  /** Resident memory of the loaded local deployments. */
  memoryBytes: number | undefined;
  /** Duration of the last load of a local deployment. */
  loadSeconds: number | undefined;
  deployed: readonly ("local" | "upstream")[];
  /** Description of the first deployment that has one, loaded or not. */
  description: ModelDescription | undefined;
  /** Context window of a chat model in the manifest. */
  contextWindow: number | undefined;
  /** Length of an embedding model's vectors, where it is known before the model is loaded. */
  dimensions: number | undefined;
  /** For chat models: abilities of at least one deployment. */
  abilities: ChatAbilities | undefined;
}

/** True if the caller may use a model. Decided for one request or one listing. */
export type ModelAccess = (model: Pick<CatalogModel, "id" | "aliases" | "accessGroups">) => boolean;

/** Whether a caller may use a model by the ID under which it was found, which for a wildcard is the requested one. */
export function mayUseFound(mayUse: ModelAccess, { id, model: { aliases, accessGroups } }: ResolvedModel): boolean {
  return mayUse({ id, aliases, accessGroups });
}

export interface ListingFilter {
  includesWildcards: boolean;
  onlyAccessGroups: boolean;
  /** Undefined: models of every task. */
  task?: Task | undefined;
}

/** Lists in the catalog's order; an upstream's models follow its wildcard. Undefined when the caller may use none. */
export function listModels(
  catalog: Catalog,
  upstream: UpstreamModels,
  mayUse: ModelAccess,
  filter: ListingFilter,
): ListedModel[] | undefined {
  const usable = [...catalog.models].flatMap((model) =>
    model.isHidden ? [] : entriesOf(catalog, model, upstream, mayUse),
  );
  if (usable.length === 0) return undefined;
  return usable.filter(
    (entry) =>
      (filter.includesWildcards || !isWildcard(entry)) &&
      (!filter.onlyAccessGroups || entry.accessGroups.length > 0) &&
      (filter.task === undefined || filter.task === entry.facts.task),
  );
}

function entriesOf(
  catalog: Catalog,
  model: CatalogModel,
  upstream: UpstreamModels,
  mayUse: ModelAccess,
): ListedModel[] {
  const fallbacks = usableFallbacks(catalog, model, mayUse);
  const fields = { id: model.id, createdAt: model.createdAt };
  const concrete = isWildcard(model) ? upstream.under(model) : [];
  return [fields, ...concrete]
    .filter(({ id }) => mayUseFound(mayUse, { id, model }))
    .map(({ id, createdAt }) => toListed({ ...model, fallbacks }, id, createdAt));
}

/** Fallbacks that the caller may request itself; the names of others stay hidden. */
export function usableFallbacks(catalog: Catalog, model: CatalogModel, mayUse: ModelAccess): string[] {
  return model.fallbacks.filter((id) => {
    const model = catalog.findFallback(id);
    return model !== undefined && mayUseFound(mayUse, model);
  });
}

export function toListed(model: CatalogModel, id: string, createdAt: number): ListedModel {
  return { id, createdAt, ownedBy: model.ownedBy, accessGroups: model.accessGroups, facts: factsOf(model) };
}

function factsOf({
  task,
  aliases,
  fallbacks,
  price,
  license,
  dimensions,
  contextWindow,
  deployments,
}: CatalogModel): ModelFacts {
  const states = deployments.map(({ state }) => state.state);
  const descriptions = deployments.flatMap(({ description }) => description ?? []);
  const canServe = states.some((state) => state === "up" || state === "unloaded");
  const isLoading = states.some((state) => state === "loading" || state === "restarting");
  return {
    task,
    aliases,
    fallbacks,
    price: Object.keys(price).length > 0 ? price : (deployments[0]?.routingOptions.price ?? price),
    license,
    dimensions,
    contextWindow,
    status: canServe ? "available" : isLoading ? "loading" : "unavailable",
    isLoaded: states.includes("up"),
    memoryBytes: sumOf(deployments.map(({ memoryBytes }) => memoryBytes)),
    loadSeconds: deployments.find(({ loadSeconds, isUpstream }) => loadSeconds !== undefined && !isUpstream)
      ?.loadSeconds,
    deployed: [...new Set(deployments.map(({ isUpstream }) => (isUpstream ? "upstream" : "local")))],
    description: descriptions[0],
    abilities: descriptions
      .flatMap((each) => (each.task === "chat" ? (each.abilities ?? []) : []))
      .reduce<ChatAbilities | undefined>(either, undefined),
  };
}

function sumOf(numbers: readonly (number | undefined)[]): number | undefined {
  const values = numbers.filter((each) => each !== undefined);
  return values.length === 0 ? undefined : values.reduce((sum, each) => sum + each, 0);
}

/** A request goes to a deployment that can serve it, so one with the ability is enough. */
function either(one: ChatAbilities | undefined, other: ChatAbilities): ChatAbilities {
  if (one === undefined) return other;
  const any = (ability: Exclude<keyof ChatAbilities, "choices">) => {
    if (one[ability] === true || other[ability] === true) return true;
    return one[ability] === undefined || other[ability] === undefined ? undefined : false;
  };
  return {
    tools: any("tools"),
    jsonSchema: any("jsonSchema"),
    logprobs: any("logprobs"),
    vision: any("vision"),
    reasoning: any("reasoning"),
    completions: any("completions"),
    infill: any("infill"),
    choices:
      one.choices === undefined || other.choices === undefined ? undefined : Math.max(one.choices, other.choices),
  };
}
