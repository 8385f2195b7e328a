/** Runs one task at a time; projects with waiting tasks take turns. */
export class RoundRobinLock {
  /** Tasks that wait, by project, in the order of the projects' turns. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isBusy = false;

  async run<Result>(project: string, task: () => Promise<Result>): Promise<Result> {
    if (this.#isBusy) await this.#turnOf(project);
    this.#isBusy = true;
    try {
      return await task();
    } finally {
      this.#startNext();
    }
  }

  #turnOf(project: string): Promise<void> {
    return new Promise((start) => {
      const waiting = this.#waiting.get(project);
      if (waiting === undefined) this.#waiting.set(project, [start]);
      else waiting.push(start);
    });
  }

  /** Stays busy until the next task has started: a task that asks meanwhile must not overtake it. */
  #startNext(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#isBusy = false;
      return;
    }
    const [project, waiting] = next;
    const start = waiting.shift();
    this.#waiting.delete(project);
    if (waiting.length > 0) this.#waiting.set(project, waiting);
    start?.();
  }
}
