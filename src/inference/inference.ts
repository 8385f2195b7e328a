/** One request's life: find the model, check access, reserve quota, run it, settle what was used. */

import { type Caller, projectOf } from "../contracts/caller.ts";
import type { ChatCall } from "../contracts/chat-call.ts";
import type { ChatRequest } from "../contracts/chat-model.ts";
import type { PassThrough } from "../contracts/chat-proxy.ts";
import { DEFAULT_CHAT_REQUEST } from "../contracts/default-chat-request.ts";
import type { EmbeddingRequest, EmbeddingResult, RerankRequest, RerankResult } from "../contracts/embedding-model.ts";
import { estimatePromptTokens } from "../contracts/estimate-tokens.ts";
import type { ImageEvent, ImageRequest } from "../contracts/image-model.ts";
import type { SpeechEvent, SpeechRequest } from "../contracts/speech-model.ts";
import type { Task } from "../contracts/task.ts";
import type { TranscriptionEvent, TranscriptionRequest } from "../contracts/transcription-model.ts";
import { isOpenAiEmbeddingModel } from "../engines/shared/token-ids.ts";
import type { RateLimitStatus } from "../kernel/faults.ts";
import { embeddingAdapter } from "./adapters/embedding-adapter.ts";
import { imageAdapter } from "./adapters/image-adapter.ts";
import type { ModerationVerdicts } from "./adapters/moderation-adapter.ts";
import { rerankAdapter } from "./adapters/rerank-adapter.ts";
import { speechAdapter } from "./adapters/speech-adapter.ts";
import { type TranscriptionKeywordOptions, transcriptionAdapter } from "./adapters/transcription-adapter.ts";
import { CallerModels, type CallerModelsOptions } from "./caller-models.ts";
import type { ChatAnswer } from "./chat-call.ts";
import { type ChatOptions, ChatRequests, type ToolCheckOptions } from "./chat-requests.ts";
import { countLocally } from "./count-locally.ts";
import { refuseUnreadable } from "./guardrails/guard-chat.ts";
import { guardTranscript } from "./guardrails/guard-transcript.ts";
import { combineModeration, type Guards } from "./guardrails/guards.ts";
import { type GuardrailOptions, RequestGuards } from "./guardrails/request-guards.ts";
import { EMBEDDING, IMAGE, RERANKING, SPEECH, TRANSCRIPTION } from "./guardrails/task-channels.ts";
import type { InferenceAnswer } from "./inference-answer.ts";
import { Mirrors, type MirrorsOptions } from "./mirrors.ts";
import { moderatePrompt } from "./moderation/moderate-prompt.ts";
import { moderationPolicy } from "./moderation/moderation-policy.ts";
import { ModerationTimes, withModeration } from "./moderation/moderation-times.ts";
import { type ModerateOptions, Moderator } from "./moderation/moderator.ts";
import type { OnDisconnect } from "./on-disconnect.ts";
import { type PronunciationOptions, withPronunciations } from "./pronunciations.ts";
import type { CountedRequest, RequestPart } from "./quota.ts";
import { Recordings, type RecordingsOptions, recorded } from "./recording/recordings.ts";
import {
  embeddingContent,
  imageContent,
  rerankContent,
  speechContent,
  transcriptionContent,
} from "./recording/task-content.ts";
import { Runs, type RunsOptions } from "./runs.ts";
import type { ServiceTierOptions } from "./service-tier.ts";
import type { ToolResult, ToolRunOptions } from "./tool-run.ts";

export interface InferenceOptions
  extends CallerModelsOptions,
    RunsOptions,
    GuardrailOptions,
    RecordingsOptions,
    ServiceTierOptions,
    ToolCheckOptions,
    PronunciationOptions,
    TranscriptionKeywordOptions,
    MirrorsOptions {}

type PromptParts = Pick<ChatRequest, "messages" | "tools" | "format">;

export interface PromptCount {
  promptTokens: number;
  /** Whether the count is an estimate rather than a tokenizer's. */
  isEstimate: boolean;
  rateLimitStatus: RateLimitStatus;
}

export class Inference {
  /** The models that a caller may use. */
  readonly models: CallerModels;
  readonly #options: InferenceOptions;
  readonly #runs: Runs;
  readonly #guardrails: RequestGuards;
  readonly #recordings: Recordings;
  readonly #moderator: Moderator;
  readonly #chats: ChatRequests;
  readonly #mirrors: Mirrors;

  constructor(options: InferenceOptions) {
    this.#options = options;
    this.models = new CallerModels(options);
    this.#runs = new Runs(this.models, options);
    this.#guardrails = new RequestGuards(this.models, this.#runs, options);
    this.#recordings = new Recordings(options, (caller, id) => this.#guardrails.policyOf(caller, id));
    this.#moderator = new Moderator(this.models, this.#runs, this.#guardrails, this.#recordings, options);
    this.#mirrors = new Mirrors(this.models, options, this.#recordings);
    this.#chats = new ChatRequests(options, {
      models: this.models,
      runs: this.#runs,
      guardrails: this.#guardrails,
      recordings: this.#recordings,
      moderator: this.#moderator,
      mirrors: this.#mirrors,
    });
  }

  /**
   * Moderates the input as the request and its project require, and resolves once an engine has begun to answer, so a
   * refusal is an error response rather than a broken stream. Throws a Fault.
   */
  chat(caller: Caller, call: ChatCall, options: ChatOptions): Promise<ChatAnswer> {
    return this.#chats.run(caller, call, options);
  }

  /**
   * Counts the tokens of a prompt with a local model's tokenizer, for which the model is loaded, or estimates them as
   * quota does. Counts as a request. Throws a Fault.
   */
  async countPromptTokens(caller: Caller, request: PromptParts & { model: string }): Promise<PromptCount> {
    const rateLimitStatus = await this.#runs.admit(caller);
    return { ...(await this.measurePrompt(caller, request)), rateLimitStatus };
  }

  /** Like `countPromptTokens`, as part of a request that is counted otherwise. */
  async measurePrompt(
    caller: Caller,
    request: PromptParts & { model: string },
  ): Promise<Omit<PromptCount, "rateLimitStatus">> {
    const { model } = this.models.findForTask(caller, request.model, "chat");
    const signal = AbortSignal.timeout(this.#options.requestTimeoutSeconds * 1000);
    const exact = await countLocally(model.deployments, { ...DEFAULT_CHAT_REQUEST, ...request }, signal);
    return { promptTokens: exact ?? estimatePromptTokens(request), isEstimate: exact === undefined };
  }

  /**
   * Moderates inputs with `model`, or with the first moderation model that this caller may use. Otherwise like `chat`.
   */
  moderate(
    caller: Caller,
    options: ModerateOptions,
    onDisconnect: OnDisconnect,
  ): Promise<InferenceAnswer<ModerationVerdicts>> {
    return this.#moderator.moderate(caller, options, onDisconnect);
  }

  /** Resolves with one event with all vectors; otherwise like `chat`. */
  async embed(
    caller: Caller,
    { model, ...request }: Omit<EmbeddingRequest, "usesOpenAiName" | "project">,
    onDisconnect: OnDisconnect,
  ): Promise<InferenceAnswer<EmbeddingResult>> {
    const usesOpenAiName = isOpenAiEmbeddingModel(model);
    const recording = this.#recordings.begin(caller, model, onDisconnect);
    const run = (embedding: typeof request) => {
      recording?.readWith(() => embeddingContent(embedding.inputs));
      const adapter = embeddingAdapter({ ...embedding, usesOpenAiName }, projectOf(caller));
      return this.#runs.run(caller, model, adapter, onDisconnect);
    };
    const guards = this.#guardrails.of(caller, model, "embedding", "input", onDisconnect);
    if (guards === undefined) return run(request);
    return guards.run(async () => {
      const hasTokenIds = request.inputs.some((input) => typeof input !== "string");
      if (hasTokenIds) refuseUnreadable(guards.policy, "token IDs", "input");
      return run(await guards.guardFields(request, EMBEDDING));
    });
  }

  /** Resolves with one event with all scores; otherwise like `chat`. */
  async rerank(
    caller: Caller,
    { model, ...request }: Omit<RerankRequest, "project">,
    onDisconnect: OnDisconnect,
  ): Promise<InferenceAnswer<RerankResult>> {
    const recording = this.#recordings.begin(caller, model, onDisconnect);
    const run = (reranking: typeof request) => {
      const adapter = rerankAdapter({ ...reranking, project: projectOf(caller) });
      const read = recording?.watch((results: RerankResult[]) => rerankContent(reranking, results));
      return recorded(this.#runs.run(caller, model, adapter, onDisconnect), read);
    };
    const guards = this.#guardrails.of(caller, model, "embedding", "documents", onDisconnect);
    if (guards === undefined) return run(request);
    return guards.run(async () => run(await guards.guardFields(request, RERANKING)));
  }

  /** Resolves with the first samples; otherwise like `chat`. */
  async speak(
    caller: Caller,
    { model, ...request }: SpeechRequest,
    onDisconnect: OnDisconnect,
  ): Promise<InferenceAnswer<SpeechEvent>> {
    const recording = this.#recordings.begin(caller, model, onDisconnect);
    const words = this.#options.pronunciationsOf?.(caller) ?? [];
    const run = (read: typeof request) => {
      // What is spoken counts, as an upstream counts it.
      const spoken = withPronunciations(read, words);
      recording?.readWith(() => speechContent(spoken));
      const adapter = speechAdapter(spoken, () => this.models.timedSpeechModels(caller));
      return this.#runs.run(caller, model, adapter, onDisconnect);
    };
    const guards = this.#guardrails.of(caller, model, "speech", "input", onDisconnect);
    if (guards === undefined) return run(request);
    return guards.run(async () => run(await guards.guardFields(request, SPEECH)));
  }

  /** Resolves with the first image, which may be unfinished; otherwise like `chat`. */
  async generateImages(
    caller: Caller,
    { model, ...request }: ImageRequest,
    onDisconnect: OnDisconnect,
    part?: RequestPart,
  ): Promise<InferenceAnswer<ImageEvent>> {
    const recording = this.#recordings.begin(caller, model, onDisconnect);
    const guards = this.#guardrails.of(caller, model, "image", "prompt", onDisconnect);
    const run = async (images: typeof request) => {
      recording?.readWith(() => imageContent(images));
      return this.#runs.run(caller, model, imageAdapter(images), onDisconnect, part);
    };
    if (guards === undefined) return run(request);
    return guards.run(async () => {
      if (request.images.length > 0) refuseUnreadable(guards.policy, "images", "image");
      const guarded = await guards.guardFields(request, IMAGE);
      const required = combineModeration(guards.policy, this.#options.moderationOf(caller));
      const policy = moderationPolicy(undefined, required, (id) => this.models.idOf(id));
      const moderate = (options: ModerateOptions) => this.#moderator.moderateWithin(caller, options, onDisconnect);
      const times = new ModerationTimes();
      await moderatePrompt(guarded.prompt, policy, { moderate, note: guards.noteModeration.bind(guards) }, times);
      return withModeration(await run(guarded), times);
    });
  }

  /** Resolves with the first segment, or the end when there is no speech; otherwise like `chat`. */
  async transcribe(
    caller: Caller,
    { model, ...request }: Omit<TranscriptionRequest, "project">,
    onDisconnect: OnDisconnect,
  ): Promise<InferenceAnswer<TranscriptionEvent>> {
    const recording = this.#recordings.begin(caller, model, onDisconnect);
    const keywords = this.#options.transcriptionKeywordsOf?.(caller) ?? [];
    const run = (transcription: typeof request) => {
      const adapter = transcriptionAdapter({ ...transcription, project: projectOf(caller) }, keywords);
      return this.#runs.run(caller, model, adapter, onDisconnect);
    };
    const read = (transcription: typeof request) =>
      recording?.watch((events: TranscriptionEvent[]) => transcriptionContent(transcription, events));
    const guards = this.#guardrails.of(caller, model, "transcription", "file", onDisconnect);
    if (guards === undefined) return recorded(run(request), read(request));
    return guards.run(async () => {
      const guarded = await guards.guardFields(request, TRANSCRIPTION);
      const answer = await run(guarded);
      const events = guardTranscript(answer.events, guards.policy, guards.context);
      return recorded({ ...answer, events }, read(guarded));
    });
  }

  /** Whether the content of a caller's requests is recorded, which workers leave to their owner. */
  isRecorded(caller: Caller): boolean {
    return this.#options.recordingOf?.(caller) !== undefined;
  }

  /** Whether guardrails apply to the requests of a caller for a model, which workers leave to their owner. */
  isGuarded(caller: Caller, id: string): boolean {
    return this.#guardrails.applyTo(caller, id);
  }

  /** Whether guardrails read every text of a caller's requests for a model, so that no body is forwarded. */
  readsTextsOnly(caller: Caller, id: string): boolean {
    return this.#guardrails.readTextsOnly(caller, id);
  }

  /** Whether an upstream that may answer a chat with `id` gets this body as it is. */
  mayForward(caller: Caller, id: string, passThrough: PassThrough): boolean {
    return !this.readsTextsOnly(caller, id) && this.models.mayForward(caller, id, passThrough);
  }

  /**
   * Counts a request before what it refers to is read, whether it succeeds or not; its run gets the result. `id`:
   * undefined for the caller's first model of the task. Throws a Fault when it exceeds a limit of requests.
   */
  countEarly(caller: Caller, id: string | undefined, task: Task): Promise<CountedRequest> {
    return this.#runs.countEarly(caller, id, task);
  }

  /** Counts a request that needs no model. Throws a Fault when it exceeds a limit. */
  admit(caller: Caller): Promise<RateLimitStatus> {
    return this.#runs.admit(caller);
  }

  /** Counts a cost that no request has caused, once it is recorded for the caller at this time. It refuses nothing. */
  countRecorded(caller: Caller, at: number): Promise<void> {
    return this.#runs.countRecorded(caller, at);
  }

  /** Whether guardrails check what tools of a caller get and write. */
  guardsTools(caller: Caller): boolean {
    return this.#guardrails.applyToTools(caller);
  }

  /** Returns the caller as it is now, for a later step of its request. Throws a Fault once its key or session has ended. */
  currentCaller(caller: Caller): Promise<Caller> {
    return this.#runs.currentCaller(caller);
  }

  /**
   * Returns the guardrails of one call of a tool, which the caller of this ends; undefined: nothing checks it.
   * `name`: what records and webhooks name in place of a model.
   */
  guardsOfTool(caller: Caller, name: string, onDisconnect: OnDisconnect): Guards | undefined {
    return this.#guardrails.ofTool(caller, name, onDisconnect);
  }

  /** Runs a call of a tool of this service, with a reservation of its price. Throws a Fault when a limit refuses it. */
  runTool<Result>(
    caller: Caller,
    tool: ToolRunOptions,
    onDisconnect: OnDisconnect,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<ToolResult<Result>> {
    return this.#runs.runTool(caller, tool, onDisconnect, work);
  }

  get runningCount(): number {
    return this.#runs.count;
  }

  /** Aborts all running requests with an error that each client sees. */
  stop(): void {
    this.#mirrors.stop();
    this.#runs.stop();
  }
}
