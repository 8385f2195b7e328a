import { PartialMatcher } from "./partial-match.ts";

/** Finds stop sequences in streamed text and holds back what may become part of one. */
export class StopSequences {
  readonly #stops: readonly string[];
  readonly #partial: PartialMatcher;
  #held = "";
  #found: string | undefined;

  constructor(stops: readonly string[]) {
    this.#stops = stops.filter((stop) => stop !== "");
    this.#partial = new PartialMatcher(this.#stops);
  }

  /** The stop sequence that ended the output. */
  get found(): string | undefined {
    return this.#found;
  }

  /** Returns the text to emit. Once `isStopped`, it is the last; the stop sequence and what follows it are dropped. */
  push(added: string): { text: string; isStopped: boolean } {
    if (this.#stops.length === 0) return { text: added, isStopped: false };
    const pending = this.#held + added;
    const first = this.#firstStop(pending);
    if (first !== undefined) {
      this.#held = "";
      this.#found = first.stop;
      return { text: pending.slice(0, first.start), isStopped: true };
    }
    const keep = this.#partial.partialLength(pending);
    this.#held = pending.slice(pending.length - keep);
    return { text: pending.slice(0, pending.length - keep), isStopped: false };
  }

  /** Returns the text that was held back. Call at the end of the output. */
  end(): string {
    const pending = this.#held;
    this.#held = "";
    return pending;
  }

  /** The stop sequence that is completed first, and where it starts. */
  #firstStop(text: string): { stop: string; start: number } | undefined {
    const match = this.#stops
      .map((stop) => ({ stop, start: text.indexOf(stop) }))
      .filter(({ start }) => start >= 0)
      .toSorted((a, b) => a.start + a.stop.length - (b.start + b.stop.length) || a.start - b.start);
    return match[0];
  }
}
