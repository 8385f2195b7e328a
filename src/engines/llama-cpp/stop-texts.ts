import { PossibleBeginnings } from "./possible-beginnings.ts";

/** Watches an answer for texts that end it, and keeps back what may become a part of one. */
export class StopTexts {
  readonly #stops: readonly string[];
  readonly #beginnings: PossibleBeginnings;
  #held = "";

  constructor(stops: readonly string[]) {
    this.#stops = stops.filter((stop) => stop !== "");
    this.#beginnings = new PossibleBeginnings(this.#stops);
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
    const keep = this.#beginnings.atEndOf(held);
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
}
