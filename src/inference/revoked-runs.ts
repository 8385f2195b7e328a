/** Aborts running requests whose key was revoked: an answer may take minutes, a background response hours. */

import type { Caller } from "../contracts/caller.ts";
import type { ActiveSet } from "../kernel/async/active-set.ts";
import { Fault } from "../kernel/faults.ts";

export interface RevocableRun {
  readonly caller: Caller;
  abort(reason: Fault): void;
}

/** Two checks take less than a second, and a cached key may need both to be seen as revoked. */
const CHECK_MS = 400;

export class RevokedRuns {
  readonly #runs: ActiveSet<RevocableRun>;
  readonly #stillWorks: (caller: Caller) => Promise<boolean>;
  #timer: NodeJS.Timeout | undefined;

  /** `stillWorks` resolves with true while that cannot be checked. */
  constructor(runs: ActiveSet<RevocableRun>, stillWorks: (caller: Caller) => Promise<boolean>) {
    this.#runs = runs;
    this.#stillWorks = stillWorks;
  }

  /** Starts the checks, which go on while requests run. */
  watch(): void {
    this.#timer ??= setTimeout(() => {
      void this.#check().finally(() => {
        this.#timer = undefined;
        if (this.#runs.size > 0) this.watch();
      });
    }, CHECK_MS).unref();
  }

  async #check(): Promise<void> {
    // Several sessions of a person have one key, and each ends alone.
    const callers = new Set([...this.#runs].map(({ caller }) => caller));
    const revoked = new Set<Caller>();
    await Promise.all(
      [...callers].map(async (caller) => {
        if (!(await this.#stillWorks(caller))) revoked.add(caller);
      }),
    );
    if (revoked.size === 0) return;
    for (const run of this.#runs) if (revoked.has(run.caller)) run.abort(keyRevoked());
  }
}

export function projectChanged(): Fault {
  const message = "Your console session has changed to another project. Send the request again.";
  return new Fault("unauthenticated", message, { code: "session_ended" });
}

export function keyRevoked(): Fault {
  const message = "The API key of this request was revoked while it ran, or its session has ended.";
  return new Fault("unauthenticated", message, { code: "invalid_api_key" });
}
