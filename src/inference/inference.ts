/** One request's life: find the model, check access, reserve quota, run it, settle what was used. */

import type { ResolvedModel } from "../catalog/catalog.ts";
import type { ChatCall } from "../contracts/chat-call.ts";
import type { ChatRequest } from "../contracts/chat-model.ts";
import type {
  EmbeddingRequest,
  EmbeddingResult,
  Model,
  ModerationInput,
  RerankRequest,
  RerankResult,
  SpeechRequest,
  TranscriptionEvent,
  TranscriptionRequest,
} from "../contracts/engine.ts";
import { DEFAULT_CHAT_REQUEST } from "../engines/shared/default-chat-request.ts";
import { estimatePromptTokens } from "../engines/shared/estimate-tokens.ts";
import { isOpenAiEmbeddingModel } from "../engines/shared/token-ids.ts";
import type { Caller } from "../features/accounts/caller.ts";
import type { Quota, UsageUpperBound } from "../features/quota/quota.ts";
import { ActiveSet } from "../kernel/async/active-set.ts";
import { Fault, type RateLimitStatus, unavailable } from "../kernel/faults.ts";
import { chatAdapter } from "./adapters/chat-adapter.ts";
import { embeddingAdapter } from "./adapters/embedding-adapter.ts";
import { type ModerationRequest, type ModerationVerdicts, moderationAdapter } from "./adapters/moderation-adapter.ts";
import { rerankAdapter } from "./adapters/rerank-adapter.ts";
import { speechAdapter } from "./adapters/speech-adapter.ts";
import { NO_UPPER_BOUND, type TaskAdapter } from "./adapters/task-adapter.ts";
import { transcriptionAdapter } from "./adapters/transcription-adapter.ts";
import type { AnswerCache, RunVariant } from "./cache/answer-cache.ts";
import { CallerModels, type CallerModelsOptions } from "./caller-models.ts";
import { chargesOf } from "./charge.ts";
import { type ChatAnswer, toChatAnswer } from "./chat-call.ts";
import { countLocally } from "./count-locally.ts";
import type { InferenceAnswer } from "./inference-answer.ts";
import { InferenceRun } from "./inference-run.ts";
import { limitToContextWindow } from "./limit-to-context-window.ts";
import { moderateChat } from "./moderation/moderate-chat.ts";
import {
  detectLanguages,
  languageRefusal,
  unsupportedLanguages,
  withLanguages,
} from "./moderation/moderation-languages.ts";
import {
  type ModerationPolicy,
  moderationPolicy,
  policyModelUnavailable,
  type RequestedModeration,
  type RequiredModeration,
} from "./moderation/moderation-policy.ts";
import type { OnDisconnect } from "./on-disconnect.ts";
import { type RevocableRun, RevokedRuns } from "./revoked-runs.ts";
import { contextWindowsOf, withPriceFor } from "./routing/candidates.ts";
import type { Router } from "./routing/router.ts";
import type { Settlement } from "./settlement.ts";

export interface InferenceOptions extends CallerModelsOptions {
  router: Router;
  quota: Quota;
  /** Moderation that the caller's project requires for all its chats. */
  moderationOf: (caller: Caller) => RequiredModeration | undefined;
  /** Whether the caller's key has not been revoked; true while that cannot be checked. */
  stillWorks: (caller: Caller) => Promise<boolean>;
  requestTimeoutSeconds: number;
  /** Undefined: no model has a cache. */
  answerCache?: AnswerCache | undefined;
  /** Called with every request that had a model, once it is over. */
  onSettled: (settlement: Settlement) => void;
}

export interface ChatOptions {
  /** Moderation that the request asks for; the project's requirements are added. */
  moderation: RequestedModeration | undefined;
  onDisconnect: OnDisconnect;
  /** Called when the chat begins to wait for a model or a slot, and without a reason when the wait ends. */
  onWait?: TaskAdapter<never, never>["onWait"];
}

type ModerateOptions = ModerationRequest & { model: string | undefined; isWithinRequest?: boolean };

type PromptParts = Pick<ChatRequest, "messages" | "tools" | "format">;

export interface PromptCount {
  promptTokens: number;
  /** Whether the count is an estimate rather than a tokenizer's. */
  isEstimate: boolean;
  rateLimitStatus: RateLimitStatus;
}

interface StartedRequest<Opened extends Model, Event> {
  caller: Caller;
  /** As the caller wrote it. */
  id: string;
  match: ResolvedModel;
  adapter: TaskAdapter<Opened, Event>;
  isWithinRequest: boolean;
}

export class Inference {
  /** The models that a caller may use. */
  readonly models: CallerModels;
  readonly #options: InferenceOptions;
  readonly #running = new ActiveSet<RevocableRun>();
  readonly #revokedRuns: RevokedRuns;

  constructor(options: InferenceOptions) {
    this.#options = options;
    this.models = new CallerModels(options);
    this.#revokedRuns = new RevokedRuns(this.#running, options.stillWorks);
  }

  /**
   * Moderates the input as the request and its project require, and resolves once an engine has begun to answer, so a
   * refusal is an error response rather than a broken stream. Throws a Fault.
   */
  async chat(caller: Caller, asked: ChatCall, { moderation, onDisconnect, onWait }: ChatOptions): Promise<ChatAnswer> {
    const defaults = this.#options.catalog.find(asked.request.model)?.model.defaults;
    const policy = moderationPolicy(moderation, this.#options.moderationOf(caller), (id) => this.models.idOf(id));
    const call = withModerable((defaults && asked.withDefaults?.(defaults)) ?? asked, policy);
    const answer = () =>
      this.#run(caller, call.request.model, chatAdapter(call, projectOf(caller), onWait), onDisconnect);
    if (policy === undefined) return toChatAnswer(await answer());
    const moderate = (options: ModerateOptions) => this.moderate(caller, options, onDisconnect);
    return moderateChat(call, policy, { answer, moderate });
  }

  /**
   * Counts the tokens of a prompt with a local model's tokenizer, for which the model is loaded, or estimates them as
   * quota does. Counts as a request. Throws a Fault.
   */
  async countPromptTokens(caller: Caller, request: PromptParts & { model: string }): Promise<PromptCount> {
    const { model } = this.models.findForTask(caller, request.model, "chat");
    const rateLimitStatus = await this.admit(caller);
    const signal = AbortSignal.timeout(this.#options.requestTimeoutSeconds * 1000);
    const exact = await countLocally(model.deployments, { ...DEFAULT_CHAT_REQUEST, ...request }, signal);
    return { promptTokens: exact ?? estimatePromptTokens(request), isEstimate: exact === undefined, rateLimitStatus };
  }

  /**
   * Moderates inputs with `model`, or with the first moderation model that this caller may use. `isWithinRequest`: as
   * part of a request that is already counted. Otherwise like `chat`.
   */
  async moderate(
    caller: Caller,
    { model, isWithinRequest = false, ...request }: ModerateOptions,
    onDisconnect: OnDisconnect,
  ): Promise<InferenceAnswer<ModerationVerdicts>> {
    const { id, unsupported } = await this.#moderatorFor(caller, model, request.inputs);
    const adapter = moderationAdapter(request, projectOf(caller));
    const answer = await this.#run(caller, id, adapter, onDisconnect, isWithinRequest);
    const isKnown = unsupported.every((language) => language === undefined);
    return isKnown ? answer : { ...answer, events: withLanguages(answer.events, unsupported) };
  }

  /** Chooses the model by the languages of the inputs, as the project requires. Throws a Fault when it refuses them. */
  async #moderatorFor(caller: Caller, model: string | undefined, inputs: readonly ModerationInput[]) {
    const id = model ?? this.models.first(caller, "moderation");
    const detected = await detectLanguages(inputs);
    if (detected.every((language) => language === undefined)) return { id, unsupported: [] };
    const unsupportedBy = async (moderator: string) =>
      unsupportedLanguages(detected, await this.models.moderationLanguages(caller, moderator));
    const unsupported = await unsupportedBy(id);
    const policy = this.#options.moderationOf(caller)?.unsupportedLanguage;
    if (policy == null || unsupported.every((language) => language === undefined)) return { id, unsupported };
    if (policy.action === "refuse") throw languageRefusal(unsupported, id);
    if (policy.action === "pass" || policy.model === null) return { id, unsupported };
    const { model: other } = policy;
    if (this.models.taskOf(caller, other) !== "moderation") throw policyModelUnavailable(undefined);
    return { id: other, unsupported: await unsupportedBy(other) };
  }

  /** Resolves with one event with all vectors; otherwise like `chat`. */
  embed(
    caller: Caller,
    { model, ...request }: Omit<EmbeddingRequest, "usesOpenAiName" | "project">,
    onDisconnect: OnDisconnect,
  ): Promise<InferenceAnswer<EmbeddingResult>> {
    const usesOpenAiName = isOpenAiEmbeddingModel(model);
    const adapter = embeddingAdapter({ ...request, usesOpenAiName }, projectOf(caller));
    return this.#run(caller, model, adapter, onDisconnect);
  }

  /** Resolves with one event with all scores; otherwise like `chat`. */
  rerank(
    caller: Caller,
    { model, ...request }: Omit<RerankRequest, "project">,
    onDisconnect: OnDisconnect,
  ): Promise<InferenceAnswer<RerankResult>> {
    return this.#run(caller, model, rerankAdapter({ ...request, project: projectOf(caller) }), onDisconnect);
  }

  /** Resolves with the first samples; otherwise like `chat`. */
  speak(
    caller: Caller,
    { model, ...request }: SpeechRequest,
    onDisconnect: OnDisconnect,
  ): Promise<InferenceAnswer<Float32Array>> {
    return this.#run(caller, model, speechAdapter(request), onDisconnect);
  }

  /** Resolves with the first segment, or the end when there is no speech; otherwise like `chat`. */
  transcribe(
    caller: Caller,
    { model, ...request }: TranscriptionRequest,
    onDisconnect: OnDisconnect,
  ): Promise<InferenceAnswer<TranscriptionEvent>> {
    return this.#run(caller, model, transcriptionAdapter(request), onDisconnect);
  }

  get runningCount(): number {
    return this.#running.size;
  }

  /** Aborts all running requests with an error that each client sees. */
  stop(): void {
    this.#options.answerCache?.stop();
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
  ): Promise<InferenceAnswer<Event>> {
    const match = this.models.findForTask(caller, id, adapter.task);
    const request = { caller, id, match, adapter, isWithinRequest };
    const { answerCache } = this.#options;
    const { cache } = match.model;
    if (cache === undefined || answerCache === undefined) return this.#start(request, { onDisconnect });
    const run = (variant: RunVariant<Event>) => this.#start(request, variant);
    return answerCache.answer({ caller, match, adapter, onDisconnect, run }, cache);
  }

  async #start<Opened extends Model, Event>(
    { caller, id, match, adapter, isWithinRequest }: StartedRequest<Opened, Event>,
    { onDisconnect, outcome, replay }: Partial<RunVariant<Event>> & Pick<RunVariant<Event>, "onDisconnect">,
  ): Promise<InferenceAnswer<Event>> {
    const { model } = match;
    const candidates = [match, ...this.models.fallbacks(caller, model)].map((each) => withPriceFor(caller, each));
    const startedAt = Date.now();
    let upperBound: UsageUpperBound | undefined;
    const reserved = this.#options.quota.reserve({
      caller,
      model: match.id,
      catalogId: model.id,
      upperBound: () => {
        if (replay !== undefined) return NO_UPPER_BOUND;
        upperBound ??= limitToContextWindow(adapter.upperBound(), contextWindowsOf(candidates), adapter.choices);
        return upperBound;
      },
      operation: adapter.task,
      charges: () => chargesOf(projectOf(caller), candidates),
      choices: adapter.choices,
      isWithinRequest,
      isBatch: caller.priority === "batch",
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
      cache: outcome,
      replay,
      onSettled: (settlement) => {
        clearTimeout(deadline);
        this.#running.delete(entry);
        this.#options.onSettled(settlement);
      },
    });
    const seconds = this.#options.requestTimeoutSeconds;
    const deadline = setTimeout(() => run.abort(timedOut(seconds)), seconds * 1000).unref();
    // Harmless after the end of the request.
    const settlement = isWithinRequest ? undefined : () => run.settlement;
    onDisconnect(() => run.abort(new Fault("client-left", "The client left.")), settlement);
    const entry = this.#running.add(run);
    this.#revokedRuns.watch();
    return await run.answer(candidates);
  }

  /** Counts a request that needs no model. Throws a Fault when it exceeds a limit. */
  async admit(caller: Caller): Promise<RateLimitStatus> {
    const claim = {
      caller,
      model: undefined,
      catalogId: undefined,
      upperBound: () => NO_UPPER_BOUND,
      operation: undefined,
      charges: () => [],
      startedAt: Date.now(),
    };
    return (await this.#options.quota.reserve(claim)).rateLimitStatus;
  }
}

/** Keeps a body whose answers cannot be moderated from being forwarded. Throws a Fault when only an upstream reads it. */
function withModerable(call: ChatCall, policy: ModerationPolicy | undefined): ChatCall {
  if (policy === undefined || call.passThrough === undefined || call.passThrough.answerText !== undefined) return call;
  const unsupported = call.passThrough.unsupportedLocally();
  if (unsupported !== undefined) throw unsupported;
  const { passThrough: _forwarded, ...typed } = call;
  return typed;
}

function timedOut(seconds: number): Fault {
  const message = `The answer was not finished within ${seconds} seconds, the limit for a request.`;
  return new Fault("upstream-timeout", message, { code: "upstream_timeout" });
}

/** Returns the project whose turn in the queue a request takes. */
function projectOf({ projectId, organizationId }: Caller): string {
  return projectId ?? organizationId;
}
