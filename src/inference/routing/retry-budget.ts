/** Prevents retry storms: retries may add a fifth to the load, plus a few that let a quiet service retry at all. */
export class RetryBudget {
  static readonly share = 0.2;
  static readonly reserve = 10;
  static readonly secondsForOneOfReserve = 5;
  /**
   * Time over which unspent retries add up. When one of many busy deployments dies, all requests that it had not begun
   * to answer are retried at once.
   */
  static readonly windowSeconds = 30;

  #left: number = RetryBudget.reserve;
  /** Requests of the window, weighted by age. */
  #recent = 0;
  #refilledAt = performance.now();

  /** Adds a request's fraction of a retry. */
  earn(): void {
    this.#refill();
    this.#recent += 1;
    this.#add(RetryBudget.share);
  }

  /** Takes one retry; returns false when the budget is exhausted. */
  spend(): boolean {
    this.#refill();
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  /** Returns a retry that was not made. */
  giveBack(): void {
    this.#add(1);
  }

  #add(retries: number): void {
    this.#left = Math.min(RetryBudget.reserve + RetryBudget.share * this.#recent, this.#left + retries);
  }

  #refill(): void {
    const now = performance.now();
    const seconds = (now - this.#refilledAt) / 1000;
    this.#refilledAt = now;
    this.#recent *= Math.exp(-seconds / RetryBudget.windowSeconds);
    this.#add(seconds / RetryBudget.secondsForOneOfReserve);
  }
}
