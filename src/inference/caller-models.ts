/** Finds and lists the models that a caller may use. */

import { type Catalog, type CatalogModel, isWildcard, type ResolvedModel } from "../catalog/catalog.ts";
import {
  type ListedModel,
  type ListingFilter,
  listModels,
  type ModelAccess,
  mayUseFound,
  toListed,
  usableFallbacks,
} from "../catalog/listing.ts";
import type { UpstreamModels } from "../catalog/upstream-models.ts";
import type { Caller } from "../contracts/caller.ts";
import { isChatProxy, type PassThrough } from "../contracts/chat-proxy.ts";
import type { Model } from "../contracts/engine.ts";
import type { Task } from "../contracts/task.ts";
import type { Deployment } from "../deployments/deployment.ts";
import { Fault, invalidRequest, modelNotFound, unsupportedValue } from "../kernel/faults.ts";
import { nearest } from "../kernel/nearest.ts";

/** Bounds of a search that any request for an unknown model begins: 1,000 names take 2 ms. */
const MAX_COMPARED_NAMES = 1000;
const MAX_LENGTH_DIFFERENCE = 40;

export interface CallerModelsOptions {
  catalog: Catalog;
  upstreamModels: UpstreamModels;
  accessOf: (caller: Caller) => ModelAccess;
  /** Time limit of a request, which may wait for a speech model to be loaded. */
  requestTimeoutSeconds: number;
}

export interface ModelVoices {
  model: string;
  voices: readonly string[];
  voiceAliases: Readonly<Record<string, string>>;
  voiceLanguages?: Readonly<Record<string, string>> | undefined;
  /** ISO 639-1 codes; undefined when unknown. */
  languages: readonly string[] | undefined;
}

export class CallerModels {
  readonly #options: CallerModelsOptions;

  constructor(options: CallerModelsOptions) {
    this.#options = options;
  }

  /** Lists models in the order of the catalog. Throws a Fault when the caller may not use any model. */
  list(caller: Caller, filter: ListingFilter): ListedModel[] {
    const { catalog, upstreamModels, accessOf } = this.#options;
    const listed = listModels(catalog, upstreamModels, accessOf(caller), filter);
    if (listed === undefined) throw new Fault("forbidden", "This API key has no access to any model.");
    return listed;
  }

  /** Returns the listing's entry for an ID or an alias. Throws a Fault when it does not exist or the caller may not use it. */
  retrieve(caller: Caller, id: string): ListedModel {
    const match = this.find(caller, id);
    const upstream = this.#options.upstreamModels.under(match.model).find((each) => each.id === match.id);
    const fallbacks = usableFallbacks(this.#options.catalog, match.model, this.#options.accessOf(caller));
    return toListed({ ...match.model, fallbacks }, match.id, upstream?.createdAt ?? match.model.createdAt);
  }

  /**
   * Lists the voices of one speech model, or of all that this caller may use; without an ID it omits models that cannot
   * serve at present. Loads models that have not been loaded since the start. Throws a Fault.
   */
  async listVoices(caller: Caller, id: string | undefined): Promise<ModelVoices[]> {
    if (id !== undefined) return this.#voicesOf(caller, id);
    const listed = this.list(caller, { includesWildcards: false, onlyAccessGroups: false, task: "speech" });
    const listings = listed.map((model) =>
      this.#voicesOf(caller, model.id).catch((failure: unknown) => {
        if (failure instanceof Fault) return [];
        throw failure;
      }),
    );
    return (await Promise.all(listings)).flat();
  }

  /** Lists the IDs of speech models that say when words are spoken. Throws a Fault when the caller may not use any model. */
  timedSpeechModels(caller: Caller): string[] {
    const listed = this.list(caller, { includesWildcards: false, onlyAccessGroups: false, task: "speech" });
    return listed
      .filter(({ facts: { description } }) => description?.task === "speech" && description.wordTimes === true)
      .map(({ id }) => id);
  }

  /**
   * Returns the languages of a moderation model; undefined when unknown. Loads a model that has not been loaded since the
   * start. Throws a Fault.
   */
  async moderationLanguages(caller: Caller, id: string): Promise<readonly string[] | undefined> {
    const opened = await this.#opened(this.findForTask(caller, id, "moderation"));
    return opened?.task === "moderation" ? opened.languages : undefined;
  }

  async #voicesOf(caller: Caller, id: string): Promise<ModelVoices[]> {
    const match = this.findForTask(caller, id, "speech");
    return voicesOf(match.id, await this.#opened(match));
  }

  async #opened({ model: { deployments } }: ResolvedModel): Promise<Model | undefined> {
    const serving = deployments.find(({ state }) => state.state === "up") ?? deployments[0];
    if (serving?.awaitsLoad === true && serving.lastModel === undefined) {
      await serving.load(AbortSignal.timeout(this.#options.requestTimeoutSeconds * 1000));
    }
    return serving?.lastModel ?? serving?.model();
  }

  /** Returns the catalog ID for a requested ID without an access check: for metrics, never for an answer. */
  idOf(id: string | undefined): string | undefined {
    return id === undefined ? undefined : this.#options.catalog.find(id)?.model.id;
  }

  /** Returns the task of a model; undefined when it does not exist or the caller may not use it. */
  taskOf(caller: Caller, id: string): Task | undefined {
    const model = this.#options.catalog.find(id);
    return model !== undefined && mayUseFound(this.#options.accessOf(caller), model) ? model.model.task : undefined;
  }

  /** Throws a Fault when the model does not exist or the caller may not use it. */
  find(caller: Caller, id: string): ResolvedModel {
    const model = this.#options.catalog.find(id);
    const mayUse = this.#options.accessOf(caller);
    if (model === undefined || !mayUseFound(mayUse, model)) throw modelNotFound(id, this.#similar(mayUse, id));
    return model;
  }

  /** Returns a name that the caller may have meant, of a model that it may use. */
  #similar(mayUse: ModelAccess, id: string): string | undefined {
    const names: string[] = [];
    for (const model of this.#options.catalog.models) {
      if (model.isHidden || isWildcard(model) || !mayUse(model)) continue;
      names.push(
        ...[model.id, ...model.aliases].filter(
          (name) => Math.abs(name.length - id.length) <= MAX_LENGTH_DIFFERENCE && !name.endsWith("*"),
        ),
      );
      if (names.length > MAX_COMPARED_NAMES) break;
    }
    return nearest(id, names) ?? names.find((name) => id.length > 2 && name.startsWith(id));
  }

  /** Like `find`, but also throws a Fault for a model of another task. */
  findForTask(caller: Caller, id: string, task: Task): ResolvedModel {
    const match = this.find(caller, id);
    if (match.model.task === task) return match;
    throw unsupportedValue(`The model \`${id}\` performs ${match.model.task}, not ${task}.`, "model");
  }

  /** Whether a deployment that may answer a request for `id` reads images, or files too. */
  mayReadMedia(caller: Caller, id: string | undefined, task: Task, media: "images" | "files"): boolean {
    const mayRead = ({ isUpstream, lastModel }: Deployment, { isBuiltin }: CatalogModel) =>
      (isUpstream && media === "files") || (!isBuiltin && maySeeImages(lastModel));
    return this.#hasDeployment(caller, id, task, mayRead) ?? false;
  }

  /** Whether no deployment that may answer a chat with `id` sees images. False for a model that the caller may not use. */
  isBlind(caller: Caller, id: string | undefined): boolean {
    const maySee = ({ lastModel }: Deployment, { isBuiltin }: CatalogModel) => !isBuiltin && maySeeImages(lastModel);
    return this.#hasDeployment(caller, id, "chat", maySee) === false;
  }

  /**
   * Whether an upstream that may answer a chat with `id` gets documents and recordings as they are. True for a model that
   * the caller may not use.
   */
  mayForwardMedia(caller: Caller, id: string | undefined): boolean {
    const mayForward = ({ isUpstream, lastModel }: Deployment) =>
      isUpstream && (lastModel?.task !== "chat" || lastModel.abilities.files !== false);
    return this.#hasDeployment(caller, id, "chat", mayForward) ?? true;
  }

  /** Whether an upstream that may answer a chat with `id` takes this body as it is. */
  mayForward(caller: Caller, id: string, passThrough: PassThrough): boolean {
    const forwards = ({ lastModel }: Deployment) =>
      lastModel?.task === "chat" && isChatProxy(lastModel) && lastModel.forwards(passThrough);
    return this.#hasDeployment(caller, id, "chat", forwards) ?? true;
  }

  /**
   * Whether a deployment that may answer a request for `id`, by default the first model of the task, has a property.
   * Pools have all. Undefined for a model that the caller may not use, which the request itself reports.
   */
  #hasDeployment(
    caller: Caller,
    id: string | undefined,
    task: Task,
    has: (deployment: Deployment, model: CatalogModel) => boolean,
  ): boolean | undefined {
    try {
      const { model } = this.findForTask(caller, id ?? this.first(caller, task), task);
      return [model, ...this.fallbacks(caller, model).map((each) => each.model)].some(
        (each) => each.pools.length > 0 || each.deployments.some((deployment) => has(deployment, each)),
      );
    } catch (failure) {
      if (failure instanceof Fault) return undefined;
      throw failure;
    }
  }

  /** Returns the ID of the caller's first model for a task. Throws a Fault without one. */
  first(caller: Caller, task: Task): string {
    const mayUse = this.#options.accessOf(caller);
    for (const model of this.#options.catalog.models) {
      if (model.task === task && !isWildcard(model) && mayUse(model)) return model.id;
    }
    throw invalidRequest(`No model for ${task} is available to this API key.`, "model");
  }

  /** Whether the caller may use a model for a task. */
  hasModel(caller: Caller, task: Task): boolean {
    const mayUse = this.#options.accessOf(caller);
    for (const model of this.#options.catalog.models) {
      if (model.task === task && !isWildcard(model) && mayUse(model)) return true;
    }
    return false;
  }

  /** Resolves the fallbacks that the caller may use. */
  fallbacks(caller: Caller, model: CatalogModel): ResolvedModel[] {
    if (model.fallbacks.length === 0) return [];
    const mayUse = this.#options.accessOf(caller);
    return model.fallbacks
      .flatMap((id) => {
        const fallback = this.#options.catalog.findFallback(id);
        return fallback === undefined ? [] : [{ ...fallback, occasion: model.fallbackOccasions?.[id] }];
      })
      .filter((found) => mayUseFound(mayUse, found));
  }

  /** Resolves the model that gets copies of the chats with `model`; undefined where the caller may not use it. */
  mirror(caller: Caller, { mirror }: CatalogModel): ResolvedModel | undefined {
    const match = mirror && this.#options.catalog.findFallback(mirror.model);
    return match && mayUseFound(this.#options.accessOf(caller), match) ? match : undefined;
  }
}

/** Before its first load, a model is not known to be blind. */
function maySeeImages(opened: Model | undefined): boolean {
  return opened?.task !== "chat" || opened.abilities.vision !== false;
}

function voicesOf(id: string, opened: Model | undefined): ModelVoices[] {
  if (opened?.task !== "speech") return [];
  const { voices = [], voiceAliases, languages, voiceLanguages } = opened;
  return [{ model: id, voices, voiceAliases, languages, voiceLanguages }];
}
