/** Keeps requests from a deployment that fails, and finds out by a probe, or else by one of them, when it is well again. */

import { CircuitState, ConsecutiveBreaker, CountBreaker, circuitBreaker, handleWhen, type IBreaker } from "cockatiel";
import { Fault } from "../faults.ts";

export interface CircuitSettings {
  /** Failures in a row that open it. */
  failures: number;
  /** Share of the last `WINDOW_CALLS` calls, 0 to 1, above which failures open it; 1: never. */
  failureRate: number;
  /** How long it stays open before it is probed. */
  cooldownSeconds: number;
}

export const DEFAULT_CIRCUIT: CircuitSettings = { failures: 5, failureRate: 0.5, cooldownSeconds: 10 };

const WINDOW_CALLS = 100;
const LEAST_CALLS = 20;
const CLOCK_MILLISECONDS = 5;
/** A Retry-After beyond this is more likely a mistake than an upstream's wish. */
const MAX_RETRY_AFTER_SECONDS = 3600;

/** What says that the deployment, and not the request, is at fault. */
const COUNTED: ReadonlySet<Fault["kind"]> = new Set([
  "unavailable",
  "upstream-failed",
  "upstream-refused",
  "upstream-timeout",
  "request-rate-limited",
  "token-rate-limited",
]);

/**
 * Asks the deployment itself, which spares requests: true: healthy, false: unhealthy, undefined: only a
 * request can show.
 */
export type Probe = () => Promise<boolean | undefined>;

export interface Watch {
  /** The answer has begun, which is enough for a probe. */
  begun(): void;
  /** Only the first call counts. */
  ended(failure: unknown): void;
}

export class Circuit {
  readonly #policy;
  readonly #breaker: EitherBreaker;
  readonly #cooldownMs: number;
  readonly #probe: Probe;
  #probeAt = 0;
  /** Set while requests wait for what the probe finds. */
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** Asked for by the deployment itself. */
  #pause: { until: number; fault: Fault } | undefined;

  constructor(settings: CircuitSettings, probe: Probe = async () => undefined) {
    const cooldownMs = settings.cooldownSeconds * 1000;
    this.#cooldownMs = cooldownMs;
    this.#probe = probe;
    this.#breaker = new EitherBreaker(settings);
    this.#policy = circuitBreaker(handleWhen(isCounted), { halfOpenAfter: cooldownMs, breaker: this.#breaker });
    this.#policy.onBreak(() => this.#coolDown());
  }

  /** Probes no more, whatever attempts on their way come to. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  get state(): "closed" | "open" | "half-open" {
    if (this.#pauseSeconds() > 0 || this.#policy.state === CircuitState.Open) return "open";
    return this.#policy.state === CircuitState.HalfOpen ? "half-open" : "closed";
  }

  /** Why no request may come at the moment; undefined when one may. */
  refusal(deployment: string): Fault | undefined {
    const pauseSeconds = this.#pauseSeconds();
    if (this.#pause !== undefined && pauseSeconds > 0) {
      const { kind, message, code } = this.#pause.fault;
      return new Fault(kind, message, { code, retryAfterSeconds: Math.ceil(pauseSeconds) });
    }
    const { state } = this.#policy;
    if (state === CircuitState.Closed) return undefined;
    const cooldownSeconds = (this.#probeAt - Date.now()) / 1000;
    const mayRequestProbe = state === CircuitState.Open && cooldownSeconds <= 0 && this.#timer === undefined;
    if (mayRequestProbe) return undefined;
    return new Fault(
      "unavailable",
      `\`${deployment}\` is temporarily unavailable after repeated failures. Try again in a moment.`,
      {
        code: "engine_failed",
        retryAfterSeconds: Math.max(1, Math.ceil(cooldownSeconds)),
      },
    );
  }

  /**
   * Reports how one attempt goes. A client's disconnect says nothing about the deployment, but a probe whose client left
   * has not shown that it is well.
   */
  watch(): Watch {
    return this.#policy.state === CircuitState.Closed ? this.#watchOne() : this.#watchProbe();
  }

  /** Only failures go through the policy, since its promises would cost each request more than all else here. */
  #watchOne(): Watch {
    let hasEnded = false;
    return {
      begun: () => {},
      ended: (failure) => {
        if (hasEnded) return;
        hasEnded = true;
        if (failure === undefined) this.#breaker.success(CircuitState.Closed);
        else if (isCounted(failure)) this.#failed(failure);
        this.#obey(failure);
      },
    };
  }

  #failed(failure: unknown): void {
    if (this.#policy.state === CircuitState.Closed) this.#policy.execute(() => Promise.reject(failure)).catch(() => {});
    // Another attempt has opened it meanwhile.
    else this.#breaker.failure(CircuitState.Closed);
  }

  #watchProbe(): Watch {
    const outcome = Promise.withResolvers<void>();
    // Not run at all when another attempt has just opened the circuit.
    outcome.promise.catch(() => {});
    this.#policy.execute(() => outcome.promise).catch(() => {});
    return {
      begun: () => outcome.resolve(),
      ended: (failure) => {
        if (failure === undefined) outcome.resolve();
        else if (isLeaving(failure)) outcome.reject(new Fault("unavailable", "The probe was broken off."));
        else outcome.reject(failure);
        this.#obey(failure);
      },
    };
  }

  #coolDown(): void {
    if (this.#isClosed) return;
    // A probe is a request too: it waits for the end of a Retry-After.
    const milliseconds = Math.max(this.#cooldownMs, this.#pauseSeconds() * 1000);
    this.#probeAt = Date.now() + milliseconds;
    clearTimeout(this.#timer);
    // A little later than the policy's own clock, which would not hear of the probe before.
    this.#timer = setTimeout(() => void this.#ask(), milliseconds + CLOCK_MILLISECONDS).unref();
  }

  async #ask(): Promise<void> {
    if (this.#pauseSeconds() > 0) return this.#coolDown();
    const asked = this.#timer;
    const isHealthy = await this.#probe().catch(() => false);
    // Closed, or opened again, in the meantime.
    if (this.#timer !== asked || asked === undefined) return;
    if (isHealthy === false) return this.#coolDown();
    this.#timer = undefined;
    if (isHealthy !== true) return;
    await this.#policy.execute(async () => {}).catch(() => {});
    // It answers; whether it serves, the next request shows.
    this.#breaker.isOnTrial = true;
  }

  #obey(failure: unknown): void {
    // A local engine that restarts says itself when it is well again.
    if (!(failure instanceof Fault) || !isCounted(failure) || failure.kind === "unavailable") return;
    if (failure.retryAfterSeconds === undefined) return;
    const seconds = Math.min(MAX_RETRY_AFTER_SECONDS, failure.retryAfterSeconds);
    // Of several answers that come together, the one that asks for most holds.
    if (this.#pauseSeconds() > seconds) return;
    this.#pause = { until: Date.now() + seconds * 1000, fault: failure };
  }

  #pauseSeconds(): number {
    return this.#pause === undefined ? 0 : (this.#pause.until - Date.now()) / 1000;
  }
}

function isCounted(failure: unknown): boolean {
  // What is no Fault is a bug, and a deployment that meets one is better left alone too.
  if (!(failure instanceof Fault)) return true;
  // It is this service that has too much to do.
  return COUNTED.has(failure.kind) && failure.code !== "server_is_overloaded";
}

function isLeaving(failure: unknown): boolean {
  return failure instanceof Fault && failure.kind === "client-left";
}

/** Opens when either rule says so. */
class EitherBreaker implements IBreaker {
  readonly #breakers: readonly IBreaker[];
  /** One more failure opens it again, until something succeeds. */
  isOnTrial = false;

  constructor({ failures, failureRate }: CircuitSettings) {
    const inARow = new ConsecutiveBreaker(failures);
    const rate = { threshold: failureRate, size: WINDOW_CALLS, minimumNumberOfCalls: LEAST_CALLS };
    this.#breakers = failureRate < 1 ? [inARow, new CountBreaker(rate)] : [inARow];
  }

  /** Kept by cockatiel for circuits that outlive their process, which these do not. */
  get state(): unknown {
    return undefined;
  }

  success(circuit: CircuitState): void {
    this.isOnTrial = false;
    for (const breaker of this.#breakers) breaker.success(circuit);
  }

  failure(circuit: CircuitState): boolean {
    // Every breaker must count it, also after the first has opened.
    const areOver = this.#breakers.map((breaker) => breaker.failure(circuit));
    return areOver.includes(true) || this.isOnTrial;
  }
}
