/** Work that only one may do at a time, first come first served. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Undefined, without any work, when the signal aborts before its turn comes. Throws what the work throws. */
  async take<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result | undefined> {
    const before = this.#last;
    const turn = (async () => {
      await before.catch(() => {});
      return signal.aborted ? undefined : await work();
    })();
    this.#last = turn;
    return turn;
  }
}
