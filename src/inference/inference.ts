/** One request's life: find the model, check access, reserve quota, run it, settle what was used. */

import type { Caller } from "../accounts/caller.ts";
import { ActiveSet } from "../async/active-set.ts";
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
import type {
  EmbeddingModel,
  EmbeddingRequest,
  EmbeddingResult,
  Model,
  ModerationModel,
  SpeechModel,
  SpeechRequest,
  TranscriptionEvent,
  TranscriptionModel,
  TranscriptionRequest,
} from "../engines/engine.ts";
import { estimatePromptTokens } from "../engines/estimate-tokens.ts";
import { isOpenAiEmbeddingModel } from "../engines/openai-embedding-models.ts";
import type { Task } from "../engines/task.ts";
import {
  Fault,
  invalidRequest,
  modelNotFound,
  type RateLimitStatus,
  unavailable,
  unsupportedValue,
} from "../faults.ts";
import type { Quota, UsageUpperBound } from "../quota/quota.ts";
import { type ChatAnswer, type ChatCall, toChatAnswer } from "./chat-call.ts";
import { embeddingAdapter } from "./embedding-adapter.ts";
import type { InferenceAnswer } from "./inference-answer.ts";
import { InferenceRun } from "./inference-run.ts";
import { limitToContextWindow } from "./limit-to-context-window.ts";
import { moderateChat } from "./moderate-chat.ts";
import { type AskedModeration, type DemandedModeration, moderationPolicy } from "./moderation-policy.ts";
import type { Router } from "./router.ts";
import type { Settlement } from "./settlement.ts";
import {
  chatAdapter,
  type ModerationRequest,
  type ModerationVerdicts,
  moderationAdapter,
  speechAdapter,
  type TaskAdapter,
  transcriptionAdapter,
} from "./task-adapters.ts";

export interface InferenceOptions {
  catalog: Catalog;
  upstreamModels: UpstreamModels;
  router: Router;
  quota: Quota;
  accessOf: (caller: Caller) => ModelAccess;
  /** Moderation that the caller's project requires for all its chats. */
  moderationOf: (caller: Caller) => DemandedModeration | undefined;
  requestTimeoutSeconds: number;
  /** Called with every request that had a model, once it is over. */
  onSettled: (settlement: Settlement) => void;
}

/**
 * Registers a callback for a disconnect; calls it at once if the client has disconnected. An abort signal takes several
 * times as long.
 */
export type OnDisconnect = (leave: () => void) => void;

export interface ChatOptions {
  /** Moderation that the request asks for; the project's requirements are added. */
  moderation: AskedModeration | undefined;
  onDisconnect: OnDisconnect;
}

type ModerationQuestion = ModerationRequest & { model: string | undefined; isWithinRequest?: boolean };

type PromptParts = Parameters<typeof estimatePromptTokens>[0];

export interface PromptCount {
  promptTokens: number;
  /** Whether the count is an estimate rather than a tokenizer's. */
  isEstimate: boolean;
  rateLimitStatus: RateLimitStatus;
}

export interface ModelVoices {
  model: string;
  voices: readonly string[];
  voiceAliases: Readonly<Record<string, string>>;
}

export class Inference {
  readonly #options: InferenceOptions;
  readonly #running = new ActiveSet<Pick<InferenceRun<never, never>, "abort" | "ageSeconds">>();

  constructor(options: InferenceOptions) {
    this.#options = options;
    // One timer for all requests: one per request would take 1% of the time of a request.
    setInterval(() => this.#endLate(), 1000 * Math.min(1, options.requestTimeoutSeconds / 20)).unref();
  }

  /** Lists models in the order of the catalog. Throws a Fault when the caller may not use any model. */
  async listModels(caller: Caller, filter: ListingFilter): Promise<ListedModel[]> {
    const { catalog, upstreamModels, accessOf } = this.#options;
    const listed = listModels(catalog, upstreamModels, accessOf(caller), filter);
    if (listed === undefined) throw new Fault("forbidden", "This API key has no access to any model.");
    return listed;
  }

  /** Returns the catalog ID for a requested ID without an access check: for metrics, never for an answer. */
  catalogIdOf(id: string | undefined): string | undefined {
    return id === undefined ? undefined : this.#options.catalog.find(id)?.model.id;
  }

  /** Returns the listing's entry for an ID or an alias. Throws a Fault when it does not exist or the caller may not use it. */
  async retrieveModel(caller: Caller, id: string): Promise<ListedModel> {
    const found = this.#find(caller, id);
    const upstream = this.#options.upstreamModels.under(found.model).find((each) => each.id === found.id);
    const fallbacks = usableFallbacks(this.#options.catalog, found.model, this.#options.accessOf(caller));
    return toListed({ ...found.model, fallbacks }, found.id, upstream?.createdAt ?? found.model.createdAt);
  }

  /**
   * Moderates the input as the request and its project require, and resolves once an engine has begun to answer, so a
   * refusal is an error response rather than a broken stream. Throws a Fault.
   */
  async chat(caller: Caller, asked: ChatCall, { moderation, onDisconnect }: ChatOptions): Promise<ChatAnswer> {
    const defaults = this.#options.catalog.find(asked.request.model)?.model.defaults;
    const call = (defaults && asked.withDefaults?.(defaults)) ?? asked;
    const policy = moderationPolicy(moderation, this.#options.moderationOf(caller), (id) => this.catalogIdOf(id));
    const adapter = () => chatAdapter(call, projectOf(caller));
    const answer = () => this.#run(caller, call.request.model, adapter(), onDisconnect);
    if (policy === undefined) return toChatAnswer(call, await answer());
    const moderate = (question: ModerationQuestion) => this.moderate(caller, question, onDisconnect);
    return moderateChat(call, policy, { answer, moderate });
  }

  /**
   * Estimates the tokens of a prompt as quota does, because no engine reports them without answering. Counts as a
   * request. Throws a Fault.
   */
  async countPromptTokens(caller: Caller, request: PromptParts & { model: string }): Promise<PromptCount> {
    this.#findForTask(caller, request.model, "chat");
    const rateLimitStatus = await this.admit(caller);
    return { promptTokens: estimatePromptTokens(request), isEstimate: true, rateLimitStatus };
  }

  /**
   * Moderates inputs with `model`, or with the first moderation model that this caller may use. `isWithinRequest`: as
   * part of a request that is already counted. Otherwise like `chat`.
   */
  async moderate(
    caller: Caller,
    { model, isWithinRequest = false, ...request }: ModerationQuestion,
    onDisconnect: OnDisconnect,
  ): Promise<InferenceAnswer<ModerationModel, ModerationVerdicts>> {
    const id = model ?? this.#firstModel(caller, "moderation");
    return this.#run(caller, id, moderationAdapter(request, projectOf(caller)), onDisconnect, isWithinRequest);
  }

  /** Resolves with one event with all vectors; otherwise like `chat`. */
  embed(
    caller: Caller,
    { model, ...request }: Omit<EmbeddingRequest, "usesOpenAiName">,
    onDisconnect: OnDisconnect,
  ): Promise<InferenceAnswer<EmbeddingModel, EmbeddingResult>> {
    const usesOpenAiName = isOpenAiEmbeddingModel(model);
    return this.#run(caller, model, embeddingAdapter({ ...request, usesOpenAiName }), onDisconnect);
  }

  /** Resolves with the first samples; otherwise like `chat`. */
  speak(
    caller: Caller,
    { model, ...request }: SpeechRequest,
    onDisconnect: OnDisconnect,
  ): Promise<InferenceAnswer<SpeechModel, Float32Array>> {
    return this.#run(caller, model, speechAdapter(request), onDisconnect);
  }

  /** Resolves with the first segment, or the end when there is no speech; otherwise like `chat`. */
  transcribe(
    caller: Caller,
    { model, ...request }: TranscriptionRequest,
    onDisconnect: OnDisconnect,
  ): Promise<InferenceAnswer<TranscriptionModel, TranscriptionEvent>> {
    return this.#run(caller, model, transcriptionAdapter(request), onDisconnect);
  }

  /**
   * Lists the voices of one speech model, or of all that this caller may use; without an ID it omits models that cannot
   * serve at present. Throws a Fault.
   */
  async listVoices(caller: Caller, id: string | undefined): Promise<ModelVoices[]> {
    if (id === undefined) {
      const listed = await this.listModels(caller, { includesWildcards: false, onlyAccessGroups: false });
      return listed.flatMap(({ id: each, facts: { opened } }) => voicesOf(each, opened));
    }
    const found = this.#findForTask(caller, id, "speech");
    const { deployments } = found.model;
    const speaking = deployments.find(({ state }) => state.state === "up") ?? deployments[0];
    if (speaking?.awaitsLoad === true && speaking.lastModel === undefined) {
      await speaking.load(AbortSignal.timeout(this.#options.requestTimeoutSeconds * 1000));
    }
    return voicesOf(found.id, speaking?.lastModel ?? speaking?.model());
  }

  get runningCount(): number {
    return this.#running.size;
  }

  /** Aborts all running requests with an error that each client sees. */
  stop(): void {
    for (const run of this.#running) {
      run.abort(unavailable("The service is stopping. Try again in a moment.", "server_is_overloaded", 5));
    }
  }

  async #run<Opened extends Model, Event>(
    caller: Caller,
    id: string,
    adapter: TaskAdapter<Opened, Event>,
    onDisconnect: OnDisconnect,
    isWithinRequest = false,
  ): Promise<InferenceAnswer<Opened, Event>> {
    const found = this.#findForTask(caller, id, adapter.task);
    const { model } = found;
    const candidates = [found, ...this.#fallbacks(caller, model)];
    const startedAt = Date.now();
    let upperBound: UsageUpperBound | undefined;
    const reserved = this.#options.quota.reserve({
      caller,
      model: found.id,
      catalogId: model.id,
      upperBound: () => {
        upperBound ??= limitToContextWindow(adapter.upperBound(), contextWindowsOf(candidates), adapter.choices);
        return upperBound;
      },
      operation: adapter.task,
      prices: candidates.map((candidate) => candidate.model.price),
      choices: adapter.choices,
      isWithinRequest,
      startedAt,
    });
    const reservation = reserved instanceof Promise ? await reserved : reserved;
    const run = new InferenceRun<Opened, Event>({
      router: this.#options.router,
      caller,
      adapter,
      requestedModel: id,
      catalogId: model.id,
      reservation,
      startedAt,
      onSettled: (settlement) => {
        this.#running.delete(entry);
        this.#options.onSettled(settlement);
      },
    });
    // Harmless after the end of the request.
    onDisconnect(() => run.abort(new Fault("client-left", "The client left.")));
    const entry = this.#running.add(run);
    return await run.answer(candidates);
  }

  /** Aborts requests past their deadline; late by at most a second or a twentieth of the time limit, whichever is less. */
  #endLate(): void {
    const seconds = this.#options.requestTimeoutSeconds;
    for (const run of this.#running) {
      if (run.ageSeconds < seconds) continue;
      const message = `The answer was not finished within ${seconds} seconds, the limit for a request.`;
      run.abort(new Fault("upstream-timeout", message, { code: "upstream_timeout" }));
    }
  }

  /** Counts a request that needs no model. Throws a Fault when it exceeds a limit. */
  async admit(caller: Caller): Promise<RateLimitStatus> {
    const upperBound = { promptTokens: 0, completionTokens: 0, audioBytes: 0, characters: 0 };
    const claim = {
      caller,
      model: undefined,
      catalogId: undefined,
      upperBound: () => upperBound,
      operation: undefined,
      prices: [],
      startedAt: Date.now(),
    };
    return (await this.#options.quota.reserve(claim)).rateLimitStatus;
  }

  #firstModel(caller: Caller, task: Task): string {
    const mayUse = this.#options.accessOf(caller);
    for (const model of this.#options.catalog.models) {
      if (model.task === task && !isWildcard(model) && mayUse(model)) return model.id;
    }
    throw invalidRequest(`No model for ${task} is available to this API key.`, "model");
  }

  #findForTask(caller: Caller, id: string, task: Task): ResolvedModel {
    const found = this.#find(caller, id);
    if (found.model.task === task) return found;
    throw unsupportedValue(`The model \`${id}\` performs ${found.model.task}, not ${task}.`, "model");
  }

  #find(caller: Caller, id: string): ResolvedModel {
    const found = this.#options.catalog.find(id);
    if (found === undefined) throw modelNotFound(id);
    const mayUse = this.#options.accessOf(caller);
    if (!mayUseFound(mayUse, found)) throw modelNotFound(id);
    return found;
  }

  /** Resolves the fallbacks that the caller may use. */
  #fallbacks(caller: Caller, model: CatalogModel): ResolvedModel[] {
    if (model.fallbacks.length === 0) return [];
    const mayUse = this.#options.accessOf(caller);
    return model.fallbacks
      .flatMap((id) => this.#options.catalog.findFallback(id) ?? [])
      .filter((found) => mayUseFound(mayUse, found));
  }
}

function contextWindowsOf(candidates: readonly ResolvedModel[]): (number | undefined)[] {
  return candidates.flatMap(({ model }) =>
    model.deployments.map(({ lastModel }) => (lastModel?.task === "chat" ? lastModel.contextWindow : undefined)),
  );
}

/** Returns the project whose turn in the queue a request takes. */
function projectOf({ projectId, organizationId }: Caller): string {
  return projectId ?? organizationId;
}

function voicesOf(id: string, opened: Model | undefined): ModelVoices[] {
  if (opened?.task !== "speech") return [];
  return [{ model: id, voices: opened.voices ?? [], voiceAliases: opened.voiceAliases }];
}
