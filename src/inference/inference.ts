/** One request's life: find the model, check access, reserve quota, run it, settle what was used. */

import type { ResolvedModel } from "../catalog/catalog.ts";
import type { ChatCall } from "../contracts/chat-call.ts";
import type { ChatMessage, ChatRequest } from "../contracts/chat-model.ts";
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
import type { Guardrail } from "../contracts/guardrail.ts";
import type { Task } from "../contracts/task.ts";
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
import { guardAnswer, guardCall, refuseUnreadable } from "./guardrails/guard-chat.ts";
import { guardTranscript } from "./guardrails/guard-transcript.ts";
import type { GuardrailServices } from "./guardrails/guardrail-services.ts";
import { combineModeration, type GuardedRequest, Guards } from "./guardrails/guards.ts";
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
  /** Guardrails of all requests. */
  guardrails: readonly Guardrail[];
  /** Guardrails that the caller's project requires, except for its moderation. */
  guardrailsOf: (caller: Caller) => readonly Guardrail[];
  guardrailServices: GuardrailServices;
  /** Called at the end of each request with guardrails. */
  onGuarded?: ((request: GuardedRequest) => void) | undefined;
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
  async chat(caller: Caller, asked: ChatCall, options: ChatOptions): Promise<ChatAnswer> {
    const guards = this.#guardsOf(caller, asked.request.model, "chat", "messages", options.onDisconnect);
    if (guards === undefined) return this.#chat(caller, asked, options, undefined);
    return guards.attempt(async () => {
      const { policy, context } = guards;
      // A policy of moderation alone reads the caller's body and answers of upstreams as bytes.
      const isTyped = policy.some(({ type }) => type !== "moderation");
      const guarded = isTyped ? await guardCall(asked, policy, context) : undefined;
      const answer = await this.#chat(caller, guarded?.call ?? asked, options, guards);
      const { bytes, events } = guarded === undefined ? answer : await guardAnswer(answer, guarded, policy, context);
      if (bytes !== undefined) return { ...answer, bytes: guards.untilEnd(bytes) };
      return { ...answer, events: guards.untilEnd(events) };
    });
  }

  async #chat(
    caller: Caller,
    asked: ChatCall,
    { moderation, onDisconnect, onWait }: ChatOptions,
    guards: Guards | undefined,
  ): Promise<ChatAnswer> {
    const defaults = this.#options.catalog.find(asked.request.model)?.model.defaults;
    const required = combineModeration(guards?.policy ?? [], this.#options.moderationOf(caller));
    const policy = moderationPolicy(moderation, required, (id) => this.models.idOf(id));
    const call = withModerable((defaults && asked.withDefaults?.(defaults)) ?? asked, policy);
    const answer = () =>
      this.#run(caller, call.request.model, chatAdapter(call, projectOf(caller), onWait), onDisconnect);
    if (policy === undefined) return toChatAnswer(await answer());
    const moderate = async (options: ModerateOptions) => {
      const id = options.model ?? this.models.first(caller, "moderation");
      const texts = options.inputs.map(({ text }) => text);
      const masked = await this.#maskFor(caller, id, texts, onDisconnect);
      return this.#moderate(caller, { ...options, inputs: withTexts(options.inputs, masked) }, onDisconnect);
    };
    return moderateChat(call, policy, { answer, moderate, note: guards?.noteModeration.bind(guards) });
  }

  /** Whether guardrails apply to the requests of a caller for a model, which workers leave to their owner. */
  isGuarded(caller: Caller, id: string): boolean {
    return this.#policyOf(caller, id).length > 0 || this.#options.moderationOf(caller) !== undefined;
  }

  /** Whether guardrails read every text of a caller's requests for a model, so that no body is forwarded. */
  readsTextsOnly(caller: Caller, id: string): boolean {
    return this.#policyOf(caller, id).some(({ type }) => type !== "moderation");
  }

  /** Returns the guardrails in order: those of all requests, of the models that may answer, and of the project. */
  #policyOf(caller: Caller, id: string): readonly Guardrail[] {
    const { catalog, guardrails, guardrailsOf } = this.#options;
    const own = guardrailsOf(caller);
    const model = catalog.find(id)?.model;
    const candidates =
      model === undefined ? [] : [model, ...this.models.fallbacks(caller, model).map((each) => each.model)];
    const ofModels = candidates.flatMap((each) => each.guardrails ?? []);
    if (guardrails.length + own.length + ofModels.length === 0) return NO_GUARDRAILS;
    // Fallbacks often have the guardrails of the model that they stand for.
    const byContent = new Map([...guardrails, ...ofModels, ...own].map((each) => [JSON.stringify(each), each]));
    return [...byContent.values()];
  }

  /** Undefined: nothing checks the request. Throws a Fault for a model that the caller may not use. */
  #guardsOf(caller: Caller, id: string, task: Task, param: string, onDisconnect: OnDisconnect): Guards | undefined {
    const policy = this.#policyOf(caller, id);
    if (policy.length === 0 && (task !== "chat" || this.#options.moderationOf(caller) === undefined)) return undefined;
    this.models.findForTask(caller, id, task);
    const { guardrailServices: services, onGuarded: onEnded } = this.#options;
    const complete = (model: string, system: string, text: string) =>
      this.#complete(caller, model, { system, text }, onDisconnect);
    return new Guards({ policy, services, caller, model: id, param, onDisconnect, complete, onEnded });
  }

  /** Asks a chat model for a short answer, as part of a request: without guardrails, and not counted as a request. */
  async #complete(
    caller: Caller,
    model: string,
    { system, text }: { system: string; text: string },
    onDisconnect: OnDisconnect,
  ) {
    const [masked = ""] = await this.#maskFor(caller, model, [text], onDisconnect);
    const messages: ChatMessage[] = [
      { role: "system", content: system },
      { role: "user", content: masked },
    ];
    const request = { ...DEFAULT_CHAT_REQUEST, model, messages, temperature: 0, maxTokens: MAX_JUDGMENT_TOKENS };
    const call: ChatCall = { request, moderationInput: () => ({ texts: [], unmoderatable: undefined }) };
    const { events } = await this.#run(caller, model, chatAdapter(call, projectOf(caller)), onDisconnect, true);
    let answer = "";
    for await (const event of events) if (event.type === "text") answer += event.text;
    return answer;
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
    options: ModerateOptions,
    onDisconnect: OnDisconnect,
  ): Promise<InferenceAnswer<ModerationVerdicts>> {
    const id = options.model ?? this.models.first(caller, "moderation");
    const guards = this.#guardsOf(caller, id, "moderation", "input", onDisconnect);
    if (guards === undefined) return this.#moderate(caller, options, onDisconnect);
    return guards.run(async () => {
      const texts = await guards.guardAll(options.inputs.map(({ text }) => text));
      return this.#moderate(caller, { ...options, inputs: withTexts(options.inputs, texts) }, onDisconnect);
    });
  }

  /** Moderates inputs that have passed the guardrails of their request. */
  async #moderate(
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

  /**
   * Returns texts that a guardrail asks another model about, without personal data and secrets if these must not reach
   * that model.
   */
  async #maskFor(caller: Caller, id: string, texts: readonly string[], onDisconnect: OnDisconnect) {
    const policy = this.#policyOf(caller, id).filter(({ type }) => type === "pii" || type === "secrets");
    if (policy.length === 0) return texts;
    const { guardrailServices: services } = this.#options;
    const complete = () => Promise.reject(new Error("personal data is not judged"));
    const guards = { policy, services, caller, model: id, param: "messages", complete, onEnded: undefined };
    return new Guards({ ...guards, onDisconnect: (leave) => onDisconnect(leave) }).guardAll(texts);
  }

  /** Chooses the model by the languages of the inputs, as the project requires. Throws a Fault when it refuses them. */
  async #moderatorFor(caller: Caller, model: string | undefined, inputs: readonly ModerationInput[]) {
    const id = model ?? this.models.first(caller, "moderation");
    const detected = await detectLanguages(inputs);
    if (detected.every((language) => language === undefined)) return { id, unsupported: [] };
    const unsupportedBy = async (moderator: string) =>
      unsupportedLanguages(detected, await this.models.moderationLanguages(caller, moderator));
    const unsupported = await unsupportedBy(id);
    const policy = combineModeration(
      this.#policyOf(caller, id),
      this.#options.moderationOf(caller),
    )?.unsupportedLanguage;
    if (policy == null || unsupported.every((language) => language === undefined)) return { id, unsupported };
    if (policy.action === "refuse") throw languageRefusal(unsupported, id);
    if (policy.action === "pass" || policy.model === null) return { id, unsupported };
    const { model: other } = policy;
    if (this.models.taskOf(caller, other) !== "moderation") throw policyModelUnavailable(undefined);
    return { id: other, unsupported: await unsupportedBy(other) };
  }

  /** Resolves with one event with all vectors; otherwise like `chat`. */
  async embed(
    caller: Caller,
    { model, ...request }: Omit<EmbeddingRequest, "usesOpenAiName" | "project">,
    onDisconnect: OnDisconnect,
  ): Promise<InferenceAnswer<EmbeddingResult>> {
    const usesOpenAiName = isOpenAiEmbeddingModel(model);
    const run = (inputs: EmbeddingRequest["inputs"]) =>
      this.#run(
        caller,
        model,
        embeddingAdapter({ ...request, inputs, usesOpenAiName }, projectOf(caller)),
        onDisconnect,
      );
    const guards = this.#guardsOf(caller, model, "embedding", "input", onDisconnect);
    return guards === undefined
      ? run(request.inputs)
      : guards.run(async () => run(await guardInputs(guards, request.inputs)));
  }

  /** Resolves with one event with all scores; otherwise like `chat`. */
  async rerank(
    caller: Caller,
    { model, ...request }: Omit<RerankRequest, "project">,
    onDisconnect: OnDisconnect,
  ): Promise<InferenceAnswer<RerankResult>> {
    const run = (query: string, documents: readonly string[]) => {
      const adapter = rerankAdapter({ ...request, query, documents, project: projectOf(caller) });
      return this.#run(caller, model, adapter, onDisconnect);
    };
    const guards = this.#guardsOf(caller, model, "embedding", "documents", onDisconnect);
    if (guards === undefined) return run(request.query, request.documents);
    return guards.run(async () => {
      const [query = "", ...documents] = await guards.guardAll([request.query, ...request.documents]);
      return run(query, documents);
    });
  }

  /** Resolves with the first samples; otherwise like `chat`. */
  async speak(
    caller: Caller,
    { model, ...request }: SpeechRequest,
    onDisconnect: OnDisconnect,
  ): Promise<InferenceAnswer<Float32Array>> {
    const run = (spoken: typeof request) => this.#run(caller, model, speechAdapter(spoken), onDisconnect);
    const guards = this.#guardsOf(caller, model, "speech", "input", onDisconnect);
    if (guards === undefined) return run(request);
    return guards.run(async () => {
      const [text = "", instructions = ""] = await guards.guardAll([request.text, request.instructions ?? ""]);
      return run({ ...request, text, instructions: instructions || undefined });
    });
  }

  /** Resolves with the first segment, or the end when there is no speech; otherwise like `chat`. */
  async transcribe(
    caller: Caller,
    { model, ...request }: TranscriptionRequest,
    onDisconnect: OnDisconnect,
  ): Promise<InferenceAnswer<TranscriptionEvent>> {
    const run = (prompt: string | undefined) =>
      this.#run(caller, model, transcriptionAdapter({ ...request, prompt }), onDisconnect);
    const guards = this.#guardsOf(caller, model, "transcription", "file", onDisconnect);
    if (guards === undefined) return run(request.prompt);
    return guards.run(async () => {
      const [prompt = ""] = await guards.guardAll([request.prompt ?? ""]);
      const answer = await run(prompt || undefined);
      return { ...answer, events: guardTranscript(answer.events, guards.policy, guards.context) };
    });
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

const NO_GUARDRAILS: readonly Guardrail[] = [];
/** Of a model that names the rules that a text violates; a reasoning model thinks before. */
const MAX_JUDGMENT_TOKENS = 1024;

function withTexts(inputs: readonly ModerationInput[], texts: readonly string[]): readonly ModerationInput[] {
  return inputs.map((input, index) => ({ ...input, text: texts[index] ?? "" }));
}

/** Returns inputs of embeddings as a model may read them. Throws a Fault, also for token IDs, which nothing can check. */
async function guardInputs(guards: Guards, inputs: EmbeddingRequest["inputs"]): Promise<EmbeddingRequest["inputs"]> {
  const texts = inputs.filter((input) => typeof input === "string");
  if (texts.length < inputs.length) refuseUnreadable(guards.policy, "token IDs", "input");
  const guarded = (await guards.guardAll(texts)).values();
  return inputs.map((input) => (typeof input === "string" ? (guarded.next().value ?? "") : input));
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
