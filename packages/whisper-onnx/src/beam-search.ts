/** Beam search as in OpenAI's implementation: the transcript with the highest mean log probability of several beams. */

import type { SampledToken } from "./token-sampling.ts";

/** A transcript under construction. */
export interface Beam {
  tokens: readonly number[];
  /** Sum over the tokens. */
  logProbability: number;
}

/** A beam of the next step, which continues the current beam `parent` with its last token. */
export interface ContinuedBeam extends Beam {
  parent: number;
}

export class BeamSearch {
  readonly #size: number;
  readonly #endOfText: number;
  readonly #finished: Beam[] = [];

  constructor(size: number, endOfText: number) {
    this.#size = size;
    this.#endOfText = endOfText;
  }

  /** One more than there are beams, because one of them may be the end of the text. */
  get candidatesPerBeam(): number {
    return this.#size + 1;
  }

  /** Whether as many transcripts are complete as there are beams (a patience of 1). */
  get isComplete(): boolean {
    return this.#finished.length >= this.#size;
  }

  /**
   * Returns the likeliest continuations of the beams, at most as many as the search has beams, and remembers those that end.
   * `next[i]` are the likeliest tokens after `beams[i]`, as many as `candidatesPerBeam`.
   */
  advance(beams: readonly Beam[], next: readonly (readonly SampledToken[])[]): ContinuedBeam[] {
    const candidates = beams.flatMap(({ tokens, logProbability }, parent) =>
      (next[parent] ?? []).map((top) => {
        const isEnd = top.token === this.#endOfText;
        return { tokens, parent, token: top.token, isEnd, logProbability: logProbability + top.logProbability };
      }),
    );
    candidates.sort((a, b) => b.logProbability - a.logProbability);
    const continued: ContinuedBeam[] = [];
    for (const { tokens, parent, token, isEnd, logProbability } of candidates) {
      if (continued.length === this.#size) break;
      if (!isEnd) continued.push({ tokens: [...tokens, token], logProbability, parent });
      else if (!this.isComplete) this.#finished.push({ tokens, logProbability });
    }
    return continued;
  }

  /** The best complete transcript; `unfinished` beams count only when fewer transcripts are complete than there are beams. */
  best(unfinished: readonly Beam[]): Beam {
    const byProbability = unfinished.toSorted((a, b) => b.logProbability - a.logProbability);
    return likeliest([...this.#finished, ...byProbability.slice(0, this.#size - this.#finished.length)]);
  }
}

/** The transcript with the highest mean log probability. */
export function likeliest(beams: readonly Beam[]): Beam {
  const [first = { tokens: [], logProbability: Number.NEGATIVE_INFINITY }, ...others] = beams;
  return others.reduce((best, beam) => (meanLogProbability(beam) > meanLogProbability(best) ? beam : best), first);
}

/** Normalized by length, since each token lowers the sum. */
function meanLogProbability({ tokens, logProbability }: Beam): number {
  return logProbability / Math.max(1, tokens.length);
}
