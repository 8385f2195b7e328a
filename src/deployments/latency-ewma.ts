/** Exponentially weighted moving average of the time to the first token, dropped when stale. */
export class LatencyEwma {
  static readonly weightOfLatest = 0.2;
  /** After this time a slow deployment is tried again. */
  static readonly forgottenAfterSeconds = 60;

  #seconds = 0;
  #measuredAt = Number.NEGATIVE_INFINITY;

  /** Average in seconds; undefined without a recent measurement. */
  get seconds(): number | undefined {
    const ageSeconds = (performance.now() - this.#measuredAt) / 1000;
    return ageSeconds > LatencyEwma.forgottenAfterSeconds ? undefined : this.#seconds;
  }

  measure(seconds: number): void {
    const previous = this.seconds;
    this.#seconds = previous === undefined ? seconds : previous + LatencyEwma.weightOfLatest * (seconds - previous);
    this.#measuredAt = performance.now();
  }
}
