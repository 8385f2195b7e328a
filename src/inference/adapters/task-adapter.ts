/** Differences between tasks in the life of a request. */

import type { ChatContent } from "../../contracts/chat-content.ts";
import type { Model } from "../../contracts/engine.ts";
import type { CallerHeaders } from "../../contracts/open-model.ts";
import type { Fault } from "../../kernel/faults.ts";
import type { Usage } from "../../kernel/usage.ts";
import type { BypassReason, CacheParts } from "../cache/cache-outcome.ts";
import type { UsageUpperBound } from "../quota.ts";
import type { PrefixKeys } from "../routing/prefix-affinity.ts";

/**
 * What a request waits for: a model, a slot, or the beginning of the answer. `forwarding`: that of an upstream which
 * answers in the caller's format.
 */
export type WaitReason = "loading" | "queued" | "answering" | "forwarding";

export interface TaskAdapter<Opened extends Model, Event> {
  task: Opened["task"];
  /** Returns the upper bound of its usage, for quota. */
  upperBound(): UsageUpperBound;
  /**
   * Returns what determines the answer, or why it is not cached; left out: answers of the task are not. `upstreams`: the
   * open models of its deployments at upstreams, undefined for one that is not open.
   */
  cacheParts?(upstreams: readonly (Opened | undefined)[]): CacheParts | BypassReason;
  /** Whether a complete answer stands for later ones; left out: it does. */
  isRepeatable?(events: readonly Event[]): boolean;
  /** Headers of the caller. */
  callerHeaders?: CallerHeaders | undefined;
  /** Number of prompts, each of which has the context window to itself; default 1. */
  prompts?: number;
  /** Number of requested choices of all prompts; default 1. */
  choices?: number;
  /** Returns keys that are equal for requests that benefit from the same deployment's prefix cache. */
  affinity(this: void): PrefixKeys | undefined;
  /**
   * Returns the Fault of a model that does not support the request, although another deployment may. `id`: the catalog
   * ID that would answer.
   */
  refusal(model: Opened, id: string): Fault | undefined;
  /** Does what needs no slot, before one is taken; undefined when there is nothing to do. Throws a Fault. */
  prepare?(model: Opened, signal: AbortSignal): Promise<void> | undefined;
  /** Called when the request begins to wait, and without a reason when the wait ends. */
  onWait?: ((reason: WaitReason | undefined) => void) | undefined;
  /** Starts the request. `id` is the catalog ID named in the answer. */
  begin(model: Opened, id: string, signal: AbortSignal): AsyncIterable<Event>;
  /** Whether the model answers with bytes in the caller's format; left out: never. */
  isForwarded?(model: Opened): boolean;
  /** Whether events are buffered as fast as they arrive, which keeps a slow client from holding the slot. */
  drainsToBuffer(model: Opened): boolean;
  /** Updates `used` with the usage of this event; returns true for a part of the answer itself. */
  count(event: Event, used: Usage): boolean;
  /** Adds to `used` the cost of a request that was abandoned before it reported its usage. */
  countAbandoned(used: Usage): void;
  /** Detects the final event, without which an answer is incomplete. */
  isEnd: ((event: Event) => boolean) | undefined;
  /** Returns what was asked and answered so far; undefined where spans do not contain it. */
  content?: (() => ChatContent) | undefined;
}

export const NO_UPPER_BOUND: UsageUpperBound = { promptTokens: 0, completionTokens: 0, audioBytes: 0, characters: 0 };
