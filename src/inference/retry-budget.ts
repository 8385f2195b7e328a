/** Prevents retry storms: retries may add a fifth to the load, plus a few that let a quiet service retry at all. */
export class RetryBudget {
  static readonly share = 0.2;
  static readonly reserve = 10;
  static readonly secondsForOneOfReserve = 5;

  #left: number = RetryBudget.reserve;
  #refilledAt = performance.now();

  /** Adds a request's fraction of a retry. */
  earn(): void {
    this.#refill();
    this.#left = Math.min(RetryBudget.reserve, this.#left + RetryBudget.share);
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
    this.#left = Math.min(RetryBudget.reserve, this.#left + 1);
  }

  #refill(): void {
    const now = performance.now();
    const earned = (now - this.#refilledAt) / 1000 / RetryBudget.secondsForOneOfReserve;
    this.#left = Math.min(RetryBudget.reserve, this.#left + earned);
    this.#refilledAt = now;
  }
}
