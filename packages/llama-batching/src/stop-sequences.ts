import { PartialMatcher } from "./partial-match.ts";

/** Finds stop sequences in streamed text and holds back what may become part of one. */
export class StopSequences {
  readonly #stops: readonly string[];
  readonly #partial: PartialMatcher;
  #held = "";

  constructor(stops: readonly string[]) {
    this.#stops = stops.filter((stop) => stop !== "");
    this.#partial = new PartialMatcher(this.#stops);
  }

  /** Returns the text to emit. Once `isStopped`, it is the last; the stop sequence and what follows it are dropped. */
  push(added: string): { text: string; isStopped: boolean } {
    if (this.#stops.length === 0) return { text: added, isStopped: false };
    const held = this.#held + added;
    const start = this.#firstStop(held);
    if (start !== undefined) {
      this.#held = "";
      return { text: held.slice(0, start), isStopped: true };
    }
    const keep = this.#partial.partialLength(held);
    this.#held = held.slice(held.length - keep);
    return { text: held.slice(0, held.length - keep), isStopped: false };
  }

  /** Returns the text that was held back. Call at the end of the output. */
  end(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }

  /** Start of the stop sequence that is completed first. */
  #firstStop(text: string): number | undefined {
    const found = this.#stops
      .map((stop) => ({ start: text.indexOf(stop), length: stop.length }))
      .filter(({ start }) => start >= 0)
      .toSorted((a, b) => a.start + a.length - (b.start + b.length) || a.start - b.start);
    return found[0]?.start;
  }
}
