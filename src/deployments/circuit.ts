/** Circuit breaker of a failing deployment, which a probe or a single request closes again. */

import { CircuitState, ConsecutiveBreaker, CountBreaker } from "cockatiel";
import { HOUR_SECONDS } from "../kernel/durations.ts";
import { Fault, type FaultKind } from "../kernel/faults.ts";

export interface CircuitSettings {
  /** Consecutive failures that open it. */
  failures: number;
  /** Share of the last `WINDOW_CALLS` calls, 0 to 1, above which failures open it; 1: never. */
  failureRate: number;
  /** Seconds that it stays open before a probe. */
  cooldownSeconds: number;
}

export const DEFAULT_CIRCUIT: CircuitSettings = { failures: 5, failureRate: 0.5, cooldownSeconds: 10 };

const WINDOW_CALLS = 100;
const LEAST_CALLS = 20;
/** Upper bound of Retry-After; a larger value is probably a mistake of the upstream. */
const MAX_RETRY_AFTER_SECONDS = HOUR_SECONDS;

/**
 * What the end of an attempt says of its deployment. `failure`: it is unhealthy; `failure-at-first`: so, unless its
 * answer has begun; `reached`: it is reachable, whatever it made of the request; `nothing`: it may not have been asked.
 */
type Verdict = "failure" | "failure-at-first" | "reached" | "nothing";

/** Only the deployment's health counts, never what depends on the request: one caller would close it for all others. */
export const VERDICTS: Record<FaultKind, Verdict> = {
  unavailable: "failure",
  "upstream-failed": "failure",
  "upstream-refused": "failure",
  // A pause in an answer may be the request's doing; a deployment that hangs also sends no first byte.
  "upstream-timeout": "failure-at-first",
  "request-rate-limited": "failure",
  "token-rate-limited": "failure",
  "answer-unfit": "reached",
  unsupported: "reached",
  "invalid-request": "reached",
  unauthenticated: "reached",
  forbidden: "reached",
  "not-found": "reached",
  "method-not-allowed": "reached",
  conflict: "reached",
  "precondition-failed": "reached",
  "request-too-slow": "reached",
  "expectation-failed": "reached",
  "body-too-large": "reached",
  "headers-too-large": "reached",
  "unsupported-media-type": "reached",
  "quota-exhausted": "reached",
  "client-left": "nothing",
};

/** Checks the deployment without a request: true: healthy, false: unhealthy, undefined: only a request can show. */
export type Probe = () => Promise<boolean | undefined>;

export interface Watch {
  /** Records that the answer has begun, which is enough for a probe. */
  begun(): void;
  /** Records the end; only the first call counts. */
  ended(failure: unknown): void;
}

export type CircuitPosition = "closed" | "open" | "half-open";

/** Circuit breaker. Uses `performance.now()`, because a system clock that is set back would keep it open. */
export class Circuit {
  readonly #breaker: EitherBreaker;
  readonly #cooldownMs: number;
  readonly #probe: Probe;
  #position: CircuitPosition = "closed";
  /** Time at which a request may probe, while it is not closed. */
  #probeAt = 0;
  /** Timer of the next probe. */
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  /** Pause that the deployment requested with Retry-After. */
  #pause: { until: number; fault: Fault } | undefined;

  constructor(settings: CircuitSettings, probe: Probe = async () => undefined) {
    this.#cooldownMs = settings.cooldownSeconds * 1000;
    this.#probe = probe;
    this.#breaker = new EitherBreaker(settings);
  }

  /** Stops probing, whatever the outcome of running attempts. */
  stop(): void {
    this.#isStopped = true;
    this.#clearTimer();
  }

  get state(): CircuitPosition {
    return this.#pauseMs() > 0 ? "open" : this.#position;
  }

  /** Returns the Fault for a request at the moment; undefined if it is admitted. */
  refusal(deployment: string): Fault | undefined {
    const pauseMs = this.#pauseMs();
    if (this.#pause !== undefined && pauseMs > 0) {
      const { kind, message, code } = this.#pause.fault;
      return new Fault(kind, message, { code, retryAfterSeconds: Math.ceil(pauseMs / 1000) });
    }
    if (this.#position === "closed") return undefined;
    if (this.#mayProbe) return undefined;
    const cooldownMs = this.#probeAt - performance.now();
    return new Fault(
      "unavailable",
      `\`${deployment}\` is temporarily unavailable after repeated failures. Try again in a moment.`,
      {
        code: "engine_failed",
        retryAfterSeconds: Math.max(1, Math.ceil(cooldownMs / 1000)),
      },
    );
  }

  get #mayProbe(): boolean {
    return this.#timer === undefined && performance.now() >= this.#probeAt;
  }

  /** Returns the observer of one attempt. */
  watch(): Watch {
    let isProbe = this.#position !== "closed" && this.#mayProbe;
    if (isProbe) this.#admitProbe();
    let hasBegun = false;
    let hasEnded = false;
    return {
      begun: () => {
        hasBegun = true;
        if (isProbe && !hasEnded) this.#close();
        isProbe = false;
      },
      ended: (failure) => {
        if (hasEnded) return;
        hasEnded = true;
        this.#judge(failure, verdictOn(failure, hasBegun), isProbe);
      },
    };
  }

  #judge(failure: unknown, verdict: Verdict, isProbe: boolean): void {
    if (verdict === "failure") this.#pauseAfter(failure);
    // Another probe may have closed it in the meantime.
    const decides = isProbe && this.#position !== "closed";
    if (verdict === "nothing") {
      if (decides && this.#position === "half-open") this.#expectProbe();
    } else if (verdict === "failure") {
      const isOver = this.#breaker.failure();
      if (decides || (isOver && this.#position === "closed")) this.#open();
    } else if (decides) {
      // A deployment that refuses the request is reachable too.
      this.#close();
    } else if (failure === undefined) {
      this.#breaker.success();
    }
  }

  #expectProbe(): void {
    this.#position = "open";
    this.#probeAt = performance.now();
  }

  /** Admits a probe. After another cooldown the next request probes too, so a hanging probe does not block recovery. */
  #admitProbe(): void {
    this.#position = "half-open";
    this.#probeAt = performance.now() + this.#cooldownMs;
  }

  #close(): void {
    this.#clearTimer();
    this.#position = "closed";
    this.#breaker.reset();
  }

  #open(): void {
    if (this.#isStopped) return;
    this.#position = "open";
    // A probe is a request too: it waits for the end of a Retry-After.
    const milliseconds = Math.max(this.#cooldownMs, this.#pauseMs());
    this.#probeAt = performance.now() + milliseconds;
    this.#clearTimer();
    this.#timer = setTimeout(() => void this.#runProbe(), milliseconds).unref();
  }

  async #runProbe(): Promise<void> {
    if (this.#pauseMs() > 0) return this.#open();
    const timer = this.#timer;
    const isHealthy = await this.#probe().catch(() => false);
    // Closed, or opened again, in the meantime.
    if (this.#timer !== timer || timer === undefined) return;
    if (isHealthy === false) return this.#open();
    this.#timer = undefined;
    this.#expectProbe();
    if (isHealthy !== true) return;
    this.#close();
    // It answers; whether it serves, the next request shows.
    this.#breaker.isOnTrial = true;
  }

  #clearTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #pauseAfter(failure: unknown): void {
    // A local engine that restarts reports itself when it is healthy again.
    if (!(failure instanceof Fault) || failure.kind === "unavailable") return;
    if (failure.retryAfterSeconds === undefined) return;
    const milliseconds = 1000 * Math.min(MAX_RETRY_AFTER_SECONDS, failure.retryAfterSeconds);
    // Of several concurrent answers, the longest pause applies.
    if (this.#pauseMs() > milliseconds) return;
    this.#pause = { until: performance.now() + milliseconds, fault: failure };
  }

  #pauseMs(): number {
    return this.#pause === undefined ? 0 : this.#pause.until - performance.now();
  }
}

function verdictOn(failure: unknown, hasBegun: boolean): Verdict {
  if (failure === undefined) return "reached";
  // Another error is a bug of this service, which the request may have caused; so is its overload.
  if (!(failure instanceof Fault) || failure.code === "server_is_overloaded") return "nothing";
  // A limit that would refuse this request at any time says nothing of others.
  if (failure.isFinal && failure.kind.endsWith("-rate-limited")) return "reached";
  const verdict = VERDICTS[failure.kind];
  if (verdict === "failure-at-first") return hasBegun ? "reached" : "failure";
  return verdict;
}

/** Opens when either rule requires it. */
class EitherBreaker {
  readonly #breakers: readonly (ConsecutiveBreaker | CountBreaker)[];
  /** Whether a single failure opens it again, until a request succeeds. */
  isOnTrial = false;

  constructor({ failures, failureRate }: CircuitSettings) {
    const inARow = new ConsecutiveBreaker(failures);
    const rate = { threshold: failureRate, size: WINDOW_CALLS, minimumNumberOfCalls: LEAST_CALLS };
    this.#breakers = failureRate < 1 ? [inARow, new CountBreaker(rate)] : [inARow];
  }

  success(): void {
    this.isOnTrial = false;
    for (const breaker of this.#breakers) breaker.success(CircuitState.Closed);
  }

  /** Resets the counts of failures. */
  reset(): void {
    this.isOnTrial = false;
    for (const breaker of this.#breakers) breaker.success(CircuitState.HalfOpen);
  }

  /** Records a failure; returns true if the circuit must open. */
  failure(): boolean {
    // Every breaker must count it, also after the first has opened.
    const areOver = this.#breakers.map((breaker) => breaker.failure(CircuitState.Closed));
    return areOver.includes(true) || this.isOnTrial;
  }
}
