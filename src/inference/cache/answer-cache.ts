/** Answers requests from earlier answers, and lets equal requests that run at the same time share one run. */

import type { ResolvedModel } from "../../catalog/catalog.ts";
import type { ModelCache } from "../../catalog/model-cache.ts";
import type { Caller } from "../../contracts/caller.ts";
import type { Model } from "../../contracts/engine.ts";
import { Fault } from "../../kernel/faults.ts";
import type { TaskAdapter } from "../adapters/task-adapter.ts";
import type { InferenceAnswer } from "../inference-answer.ts";
import type { OnDisconnect } from "../on-disconnect.ts";
import { type CacheDirectives, NO_DIRECTIVES, readCacheDirectives } from "./cache-directives.ts";
import { toCacheKey } from "./cache-key.ts";
import type { BypassReason, CacheOutcome } from "./cache-outcome.ts";
import type { CacheStore, NewStoredAnswer, StoredAnswer } from "./cache-store.ts";
import { Flight } from "./flight.ts";
import { findKeyProblem } from "./key-problem.ts";
import { decodeAnswer, encodeAnswer, type RecordedAnswer } from "./recorded-answer.ts";
import { Recorder } from "./recorder.ts";

/** An earlier answer that a run repeats. */
export interface Replay<Event> extends RecordedAnswer<Event> {
  outcome: CacheOutcome & { status: "hit" };
}

export interface AnswerCacheOptions {
  /** Never slow and never fails: a store that is away has no answers. */
  store: CacheStore;
  /** Maximum size of an answer in bytes. */
  maxAnswerBytes: number;
  onOutcome: (catalogId: string, status: CacheOutcome["status"]) => void;
}

export interface CachedRequest<Opened extends Model, Event> {
  caller: Caller;
  match: ResolvedModel;
  adapter: TaskAdapter<Opened, Event>;
  onDisconnect: OnDisconnect;
  /** Runs the request, or repeats an answer. */
  run(options: RunVariant<Event>): Promise<InferenceAnswer<Event>>;
}

export interface RunVariant<Event> {
  onDisconnect: OnDisconnect;
  replay?: Replay<Event>;
  outcome: CacheOutcome;
}

interface Question {
  key: string;
  /** `CacheParts.isForwardable`. */
  isForwardable: boolean;
  directives: CacheDirectives;
}

export class AnswerCache {
  readonly #options: AnswerCacheOptions;
  /** By key and priority: an interactive request does not wait for a batch's. */
  readonly #flights = new Map<string, Flight>();

  constructor(options: AnswerCacheOptions) {
    this.#options = options;
  }

  /** Resolves with the answer of an earlier run, of one that runs, or of its own. Throws a Fault. */
  async answer<Opened extends Model, Event>(
    request: CachedRequest<Opened, Event>,
    cache: ModelCache,
  ): Promise<InferenceAnswer<Event>> {
    const { match, onDisconnect, run } = request;
    const question = toQuestion(request, cache);
    if (typeof question === "string") {
      return run({ onDisconnect, outcome: this.#note(match, { status: "bypass", reason: question }) });
    }
    const { key, directives } = question;
    const stored = directives.reads ? await this.#find(key, directives.maxAgeSeconds) : undefined;
    if (stored !== undefined) return this.#repeat(request, key, stored);
    if (directives.onlyIfCached) throw notCached();
    const outcome = () => this.#note(match, { status: "miss", key });
    if (!directives.stores) return run({ onDisconnect, outcome: outcome() });
    const flightKey = `${request.caller.priority ?? ""} ${key}`;
    const running = directives.reads ? this.#flights.get(flightKey) : undefined;
    if (running === undefined) return this.#lead(request, cache, question, flightKey);
    const shared = await this.#follow(running, request);
    if (shared !== undefined) return this.#repeat(request, key, shared);
    return run({ onDisconnect, outcome: outcome() });
  }

  /** Ends the requests that wait for others. */
  stop(): void {
    for (const flight of this.#flights.values()) flight.stop();
  }

  async #find(key: string, maxAgeSeconds: number): Promise<StoredAnswer | undefined> {
    const stored = await this.#options.store.get(key);
    return stored !== undefined && ageSecondsOf(stored) <= maxAgeSeconds ? stored : undefined;
  }

  #repeat<Opened extends Model, Event>(
    { match, onDisconnect, run }: CachedRequest<Opened, Event>,
    key: string,
    stored: StoredAnswer,
  ): Promise<InferenceAnswer<Event>> {
    const outcome = { status: "hit", ageSeconds: ageSecondsOf(stored), key } as const;
    this.#note(match, outcome);
    return run({ onDisconnect, outcome, replay: { ...decodeAnswer<Event>(stored.content), outcome } });
  }

  async #follow<Opened extends Model, Event>(
    flight: Flight,
    { adapter, onDisconnect }: CachedRequest<Opened, Event>,
  ): Promise<StoredAnswer | undefined> {
    adapter.onWait?.("queued");
    try {
      return await flight.follow(onDisconnect);
    } finally {
      adapter.onWait?.(undefined);
    }
  }

  async #lead<Opened extends Model, Event>(
    request: CachedRequest<Opened, Event>,
    cache: ModelCache,
    { key, isForwardable }: Question,
    flightKey: string,
  ): Promise<InferenceAnswer<Event>> {
    const { match, run, onDisconnect } = request;
    const flight = new Flight();
    this.#flights.set(flightKey, flight);
    const land = (answer: StoredAnswer | undefined) => {
      flight.end(answer);
      if (this.#flights.get(flightKey) === flight) this.#flights.delete(flightKey);
    };
    let answer: InferenceAnswer<Event>;
    try {
      const outcome = this.#note(match, { status: "miss", key });
      answer = await run({ onDisconnect: flight.ofLeader(onDisconnect), outcome });
    } catch (failure) {
      land(undefined);
      throw failure;
    }
    // A fallback's answer must not stand for this model's, nor bytes for what other formats are rendered from.
    if (answer.model !== match.id || (answer.isForwarded && !isForwardable)) {
      land(undefined);
      return answer;
    }
    const events = new Recorder({
      source: answer.events[Symbol.asyncIterator](),
      maxBytes: this.#options.maxAnswerBytes,
      onLeft: (abandon) => flight.leaderLeft(abandon),
      onRecorded: (recorded) => {
        const isKept = recorded !== undefined && request.adapter.isRepeatable?.(recorded) !== false;
        const stored = isKept
          ? this.#toStored(request, cache, key, { ...factsOf(answer), events: recorded })
          : undefined;
        if (stored === undefined) return land(undefined);
        flight.end(stored);
        // Requests that find nothing in the store yet get the answer from the flight.
        void this.#options.store.put(stored).finally(() => land(stored));
      },
    });
    return { ...answer, events };
  }

  #toStored<Opened extends Model, Event>(
    { caller, match }: CachedRequest<Opened, Event>,
    cache: ModelCache,
    key: string,
    answer: RecordedAnswer<Event>,
  ): NewStoredAnswer | undefined {
    const content = encodeAnswer(answer);
    if (content.length > this.#options.maxAnswerBytes) return undefined;
    const storedAt = Date.now();
    return {
      key,
      organizationId: caller.organizationId,
      scopeId: scopeOf(caller, cache),
      model: match.id,
      catalogId: match.model.id,
      content,
      storedAt,
      expiresAt: storedAt + cache.ttlSeconds * 1000,
    };
  }

  #note<Outcome extends CacheOutcome>({ model }: ResolvedModel, outcome: Outcome): Outcome {
    this.#options.onOutcome(model.id, outcome.status);
    return outcome;
  }
}

/** Returns the key of the request, or why its answer is not cached. Throws a Fault for an invalid header. */
function toQuestion<Opened extends Model, Event>(
  { caller, match, adapter }: Pick<CachedRequest<Opened, Event>, "caller" | "match" | "adapter">,
  cache: ModelCache,
): Question | BypassReason {
  const { callerHeaders } = adapter;
  const directives = callerHeaders === undefined ? NO_DIRECTIVES : readCacheDirectives(callerHeaders);
  if (directives.use === "off" || (directives.use === undefined && cache.use === "on_request")) return "off";
  if (!directives.reads && !directives.stores) return "off";
  const answer = adapter.cacheParts?.(openModels<Opened>(match)) ?? "task";
  if (typeof answer === "string") return answer;
  const isAsked = directives.use === "on";
  if (answer.isSampled && !cache.sampled && !isAsked) return "sampled";
  if (answer.hasTools && !cache.tools && !isAsked) return "tools";
  const problem = findKeyProblem(answer.parts);
  if (problem !== undefined) return problem;
  const key = toCacheKey({
    scopeId: scopeOf(caller, cache),
    model: match.id,
    version: cache.version,
    headers: callerHeaders === undefined ? {} : cache.forwardedHeaders(callerHeaders),
    parts: answer.parts,
  });
  return { key, isForwardable: answer.isForwardable, directives };
}

function scopeOf({ projectId, organizationId }: Caller, { sharedWithin }: ModelCache): string {
  return sharedWithin === "organization" ? organizationId : (projectId ?? organizationId);
}

/** Upstreams' models, which are always open; undefined: not known. A local model answers with typed events. */
function openModels<Opened extends Model>({ model }: ResolvedModel): (Opened | undefined)[] {
  const upstreams = model.deployments.filter(({ isUpstream }) => isUpstream);
  return upstreams.map((deployment) => deployment.lastModel as Opened | undefined);
}

function factsOf<Event>(answer: InferenceAnswer<Event>): Omit<RecordedAnswer<Event>, "events"> {
  const { model, deployment, deploymentName, engine, isUpstream, isForwarded, sampleRate } = answer;
  return { used: { ...answer.used }, model, deployment, deploymentName, engine, isUpstream, isForwarded, sampleRate };
}

function ageSecondsOf({ storedAt }: StoredAnswer): number {
  return Math.max(0, Math.floor((Date.now() - storedAt) / 1000));
}

/** RFC 9111, section 5.2.1.7. */
function notCached(): Fault {
  const message = "No stored answer matches the request, which has `Cache-Control: only-if-cached`.";
  return new Fault("upstream-timeout", message, { code: "not_cached", isFinal: true });
}
