/** Sends a share of a model's chats to a second model, whose answers no caller gets, waits for or pays. */

import type { ResolvedModel } from "../catalog/catalog.ts";
import { type Caller, projectOf } from "../contracts/caller.ts";
import type { ChatCall } from "../contracts/chat-call.ts";
import { ActiveSet } from "../kernel/async/active-set.ts";
import { Fault } from "../kernel/faults.ts";
import { newOrderedId } from "../kernel/id.ts";
import { chatAdapter } from "./adapters/chat-adapter.ts";
import type { CallerModels, CallerModelsOptions } from "./caller-models.ts";
import { type ChatAnswer, toChatAnswer } from "./chat-call.ts";
import { InferenceRun } from "./inference-run.ts";
import { UNLIMITED } from "./quota.ts";
import { recordChat } from "./recording/chat-recording.ts";
import type { Recordings, RecordingsOptions } from "./recording/recordings.ts";
import type { RequestRecording } from "./recording/request-recording.ts";
import { type RevocableRun, RevokedRuns } from "./revoked-runs.ts";
import type { RunsOptions } from "./runs.ts";
import { type ServiceTierOptions, withServiceTier } from "./service-tier.ts";
import type { Settlement } from "./settlement.ts";

export interface MirroredChat {
  /** Like that of a request. */
  id: string;
  caller: Caller;
  /** Catalog ID of the model whose chat it is. */
  mirrored: string;
  /** Milliseconds of `performance.now()`. */
  beganAt: number;
  settlement: Settlement;
  failure: unknown;
  recording: RequestRecording | undefined;
}

export interface MirrorsOptions
  extends Pick<CallerModelsOptions, "catalog">,
    Pick<RunsOptions, "router" | "requestTimeoutSeconds" | "stillWorks">,
    Pick<RecordingsOptions, "mayRecord">,
    ServiceTierOptions {
  /** Called with each mirrored chat, once it is over. */
  onMirrored?: ((chat: MirroredChat) => void) | undefined;
  /** Called for a chat that is not mirrored, because as many as may are on their way. */
  onMirrorDropped?: ((catalogId: string) => void) | undefined;
}

export class Mirrors {
  readonly #models: CallerModels;
  readonly #options: MirrorsOptions;
  readonly #recordings: Recordings;
  /** By catalog ID of the model whose chats are mirrored. */
  readonly #running = new Map<string, number>();
  readonly #runs = new ActiveSet<RevocableRun>();
  readonly #revokedRuns: RevokedRuns;
  #isStopped = false;

  constructor(models: CallerModels, options: MirrorsOptions, recordings: Recordings) {
    this.#models = models;
    this.#options = options;
    this.#recordings = recordings;
    this.#revokedRuns = new RevokedRuns(this.#runs, options.stillWorks);
  }

  /**
   * Mirrors a chat whose answer has begun, if it is drawn: one that was refused, or that the cache answers, says nothing
   * of how a model would do. `call`: as the guardrails left it. `mayRecord`: false where guardrails check answers, which
   * do not check that of the mirror. Never throws.
   */
  begin(caller: Caller, call: ChatCall, answer: ChatAnswer, { mayRecord }: { mayRecord: boolean }): void {
    const { catalog, onMirrorDropped } = this.#options;
    const source = catalog.find(call.request.model)?.model;
    const settings = source?.mirror;
    if (source === undefined || settings === undefined || this.#isStopped || answer.cache?.status === "hit") return;
    if (Math.random() * 100 >= settings.percent) return;
    const match = this.#models.mirror(caller, source);
    if (match?.model.task !== "chat") return;
    const running = this.#running.get(source.id) ?? 0;
    if (running >= settings.maxConcurrent) {
      onMirrorDropped?.(source.id);
      return;
    }
    this.#running.set(source.id, running + 1);
    const ended = () => this.#running.set(source.id, (this.#running.get(source.id) ?? 1) - 1);
    const drop = () => onMirrorDropped?.(source.id);
    // A failure before the second model runs must not reach the caller.
    void this.#run(caller, call, match, { mirrored: source.id, mayRecord }).catch(drop).finally(ended);
  }

  /** Cancels those that run; no further ones begin. */
  stop(): void {
    this.#isStopped = true;
    for (const run of this.#runs) run.abort(new Fault("client-left", "The service is stopping."));
  }

  async #run(
    caller: Caller,
    original: ChatCall,
    match: ResolvedModel,
    { mirrored, mayRecord }: { mirrored: string; mayRecord: boolean },
  ): Promise<void> {
    const { router, requestTimeoutSeconds: seconds, onMirrored } = this.#options;
    const beganAt = performance.now();
    const { defaults } = match.model;
    const complete = (defaults && original.withDefaults?.(defaults)) ?? original;
    const call = withServiceTier(complete, this.#options.serviceTiersOf?.(caller));
    const recording = mayRecord ? this.#recordings.begin(caller, original.request.model, () => {}) : undefined;
    let failure: unknown;
    const run = new InferenceRun({
      router,
      // Whoever waits for an answer goes first, and may take the slot.
      caller: { ...caller, priority: "batch" },
      adapter: chatAdapter(call, projectOf(caller), undefined, this.#options.mayRecord?.(caller) !== false),
      requestedModel: original.request.model,
      catalogId: match.model.id,
      reservation: UNLIMITED,
      startedAt: Date.now(),
      onSettled: () => {},
    });
    // Only the caller itself is known to have a key, not the copy of it above.
    const entry = this.#runs.add({ caller, abort: (reason) => run.abort(reason) });
    this.#revokedRuns.watch();
    const deadline = setTimeout(() => {
      run.abort(new Fault("upstream-timeout", `The mirror did not answer within ${seconds} seconds.`));
    }, seconds * 1000).unref();
    try {
      const answer = toChatAnswer(await run.answer([match]));
      const { bytes, events } = recording === undefined ? answer : recordChat(call, answer, recording, undefined);
      for await (const _ of bytes ?? events) {
        // Read to its end.
      }
    } catch (error) {
      failure = error;
    } finally {
      clearTimeout(deadline);
      this.#runs.delete(entry);
      const { settlement } = run;
      if (settlement !== undefined) {
        onMirrored?.({ id: newOrderedId("req_"), caller, mirrored, beganAt, settlement, failure, recording });
      }
    }
  }
}
