/** One run that other requests with the same key wait for. */

import { Fault, unavailable } from "../../kernel/faults.ts";
import type { OnDisconnect } from "../on-disconnect.ts";
import type { StoredAnswer } from "./cache-store.ts";

export class Flight {
  readonly #outcome = Promise.withResolvers<StoredAnswer | undefined>();
  #followers = 0;
  #hasLeader = true;
  #hasEnded = false;
  /** Ends the run, once nobody waits for it. */
  #abandon: (() => void) | undefined;

  constructor() {
    // Without followers, a failure has no reader.
    this.#outcome.promise.catch(() => {});
  }

  /** Whether the leader's client or a follower waits for the answer. */
  get isAwaited(): boolean {
    return this.#hasLeader || this.#followers > 0;
  }

  /** Returns the leader's `onDisconnect`, with which its run goes on while followers wait. */
  ofLeader(onDisconnect: OnDisconnect): OnDisconnect {
    return (leave, settlement) => onDisconnect(() => this.leaderLeft(leave), settlement);
  }

  leaderLeft(abandon: () => void): void {
    this.#hasLeader = false;
    if (this.#followers > 0 && !this.#hasEnded) this.#abandon = abandon;
    else abandon();
  }

  /** Resolves with the answer; undefined when the run failed. Throws a Fault when the follower's client leaves. */
  async follow(onDisconnect: OnDisconnect): Promise<StoredAnswer | undefined> {
    this.#followers += 1;
    const departure = Promise.withResolvers<never>();
    onDisconnect(() => departure.reject(new Fault("client-left", "The client left.")));
    try {
      return await Promise.race([this.#outcome.promise, departure.promise]);
    } finally {
      this.#followers -= 1;
      if (!this.isAwaited && !this.#hasEnded) this.#abandon?.();
    }
  }

  /** Undefined: each follower runs its request itself. */
  end(answer: StoredAnswer | undefined): void {
    this.#hasEnded = true;
    this.#outcome.resolve(answer);
  }

  /** Ends the followers' requests, too. */
  stop(): void {
    this.#outcome.reject(unavailable("The service is stopping. Try again in a moment.", "server_is_overloaded", 5));
  }
}
