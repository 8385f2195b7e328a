/** One chat: its guardrails, its moderation and the recording of its content around the run of a model. */

import { type Caller, projectOf } from "../contracts/caller.ts";
import type { ChatCall } from "../contracts/chat-call.ts";
import type { PassThrough } from "../contracts/chat-proxy.ts";
import { checks } from "../contracts/guardrail.ts";
import { chatAdapter } from "./adapters/chat-adapter.ts";
import type { TaskAdapter } from "./adapters/task-adapter.ts";
import type { CallerModels, CallerModelsOptions } from "./caller-models.ts";
import { type ChatAnswer, toChatAnswer } from "./chat-call.ts";
import { guardAnswer, guardCall } from "./guardrails/guard-chat.ts";
import { combineModeration, type Guards } from "./guardrails/guards.ts";
import type { GuardrailOptions, RequestGuards } from "./guardrails/request-guards.ts";
import type { Mirrors } from "./mirrors.ts";
import { moderateChat } from "./moderation/moderate-chat.ts";
import { type ModerationPolicy, moderationPolicy, type RequestedModeration } from "./moderation/moderation-policy.ts";
import type { ModerateOptions, Moderator } from "./moderation/moderator.ts";
import type { OnDisconnect } from "./on-disconnect.ts";
import type { RequestPart } from "./quota.ts";
import { recordChat, recordPrompt, type StoreChat } from "./recording/chat-recording.ts";
import type { Recordings, RecordingsOptions } from "./recording/recordings.ts";
import type { RequestRecording } from "./recording/request-recording.ts";
import type { Runs } from "./runs.ts";
import { type ServiceTierOptions, withServiceTier } from "./service-tier.ts";

export interface ChatOptions extends RequestPart {
  /** Moderation that the request asks for; the project's requirements are added. */
  moderation: RequestedModeration | undefined;
  onDisconnect: OnDisconnect;
  /** Called when the chat begins to wait for a model or a slot, and without a reason when the wait ends. */
  onWait?: TaskAdapter<never, never>["onWait"];
  /** Gets the content of a later chat of a request, which has one record; null: nothing does. Default: a record of its own. */
  recording?: RequestRecording | null;
  /** Stores the answer for its caller; undefined: the caller does not ask for it. */
  store?: StoreChat | undefined;
}

export interface ToolCheckOptions {
  /** Checks the tools of a body that upstreams may get. Throws a Fault. */
  checkTools?: ((caller: Caller, body: PassThrough["body"]) => void) | undefined;
}

type ChatRequestsOptions = Pick<CallerModelsOptions, "catalog"> &
  Pick<GuardrailOptions, "moderationOf"> &
  Pick<RecordingsOptions, "mayRecord"> &
  ServiceTierOptions &
  ToolCheckOptions;

/** What every kind of request goes through. */
interface Steps {
  models: CallerModels;
  runs: Runs;
  guardrails: RequestGuards;
  recordings: Recordings;
  moderator: Moderator;
  mirrors: Mirrors;
}

export class ChatRequests {
  readonly #options: ChatRequestsOptions;
  readonly #steps: Steps;

  constructor(options: ChatRequestsOptions, steps: Steps) {
    this.#options = options;
    this.#steps = steps;
  }

  /**
   * Moderates the input as the request and its project require, and resolves once an engine has begun to answer, so a
   * refusal is an error response rather than a broken stream. Throws a Fault.
   */
  async run(caller: Caller, original: ChatCall, options: ChatOptions): Promise<ChatAnswer> {
    const { onDisconnect, store } = options;
    if (original.passThrough !== undefined) this.#options.checkTools?.(caller, original.passThrough.body);
    const begin = () => this.#steps.recordings.begin(caller, original.request.model, onDisconnect, store !== undefined);
    const recording = options.recording === undefined ? begin() : (options.recording ?? undefined);
    const guards = this.#steps.guardrails.of(caller, original.request.model, "chat", "messages", onDisconnect);
    if (guards === undefined) {
      if (recording === undefined) return this.#answer(caller, original, options, undefined);
      recordPrompt(original, recording);
      return recordChat(original, await this.#answer(caller, original, options, undefined), recording, store);
    }
    return guards.attempt(async () => {
      const { policy, context } = guards;
      // A policy of moderation alone reads the caller's body and answers of upstreams as bytes.
      const isTyped = policy.some(({ type }) => type !== "moderation");
      const guarded = isTyped ? await guardCall(original, policy, context) : undefined;
      const call = guarded?.call ?? original;
      if (recording !== undefined) recordPrompt(call, recording);
      const answer = await this.#answer(caller, call, options, guards);
      const checked = guarded === undefined ? answer : await guardAnswer(answer, guarded, policy, context);
      const { bytes, events } = recording === undefined ? checked : recordChat(call, checked, recording, store);
      if (bytes !== undefined) return { ...answer, bytes: guards.untilEnd(bytes) };
      return { ...answer, events: guards.untilEnd(events) };
    });
  }

  /** A chat as the guardrails left it, which may be mirrored once its answer has begun. */
  async #answer(
    ...[caller, original, options, guards]: [Caller, ChatCall, ChatOptions, Guards | undefined]
  ): Promise<ChatAnswer> {
    const answer = await this.#moderated(caller, original, options, guards);
    const isChecked = guards?.policy.some((guardrail) => checks(guardrail, "output")) === true;
    this.#steps.mirrors.begin(caller, original, answer, { mayRecord: !isChecked });
    return answer;
  }

  async #moderated(
    caller: Caller,
    original: ChatCall,
    { moderation, onDisconnect, onWait, isWithinRequest, counted }: ChatOptions,
    guards: Guards | undefined,
  ): Promise<ChatAnswer> {
    const defaults = this.#options.catalog.find(original.request.model)?.model.defaults;
    const required = combineModeration(guards?.policy ?? [], this.#options.moderationOf(caller));
    const policy = moderationPolicy(moderation, required, (id) => this.#steps.models.idOf(id));
    const complete = withModerable((defaults && original.withDefaults?.(defaults)) ?? original, policy);
    const call = withServiceTier(complete, this.#options.serviceTiersOf?.(caller));
    const part = { isWithinRequest, counted };
    const answer = () => {
      const adapter = chatAdapter(call, projectOf(caller), onWait, this.#options.mayRecord?.(caller) !== false);
      return this.#steps.runs.run(caller, call.request.model, adapter, onDisconnect, part);
    };
    if (policy === undefined) return toChatAnswer(await answer());
    const moderate = (options: ModerateOptions) => this.#steps.moderator.moderateWithin(caller, options, onDisconnect);
    return moderateChat(call, policy, { answer, moderate, note: guards?.noteModeration.bind(guards) });
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
