/** Watches an answer for texts that end it, and keeps back what may become a part of one. */
export class StopTexts {
  readonly #stops: readonly string[];
  #held = "";

  constructor(stops: readonly string[]) {
    this.#stops = stops.filter((stop) => stop !== "");
  }

  /** `text` may be given out. Once `isOver`, it is the answer's last; the stop text and what follows it are dropped. */
  push(added: string): { text: string; isOver: boolean } {
    if (this.#stops.length === 0) return { text: added, isOver: false };
    const held = this.#held + added;
    const start = this.#firstStop(held);
    if (start !== undefined) {
      this.#held = "";
      return { text: held.slice(0, start), isOver: true };
    }
    const keep = this.#possibleBeginning(held);
    this.#held = held.slice(held.length - keep);
    return { text: held.slice(0, held.length - keep), isOver: false };
  }

  /** What was kept back, once nothing can follow it. */
  end(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }

  /** Where the stop text begins that is complete first. */
  #firstStop(text: string): number | undefined {
    const found = this.#stops
      .map((stop) => ({ start: text.indexOf(stop), length: stop.length }))
      .filter(({ start }) => start >= 0)
      .toSorted((a, b) => a.start + a.length - (b.start + b.length) || a.start - b.start);
    return found[0]?.start;
  }

  /** Length of the longest end of `text` with which a stop text begins. */
  #possibleBeginning(text: string): number {
    const longest = Math.max(...this.#stops.map((stop) => stop.length - 1));
    for (let length = Math.min(longest, text.length); length > 0; length--) {
      const end = text.slice(-length);
      if (this.#stops.some((stop) => stop.startsWith(end))) return length;
    }
    return 0;
  }
}
