import type { TimeRange } from "@parlance-inference/speech-segmentation/vad-segmenter";

/** The languages of a recording so far. */
export class SpokenLanguages {
  /** Language of the last speech; undefined: unknown. */
  current: string | undefined;
  readonly #seconds = new Map<string | undefined, number>();

  constructor(language: string | undefined) {
    this.current = language;
  }

  add(language: string | undefined, segments: readonly TimeRange[]): void {
    this.current = language;
    this.#seconds.set(language, (this.#seconds.get(language) ?? 0) + spokenSeconds(segments));
  }

  /** The language that was spoken for most seconds, or in which speech was looked for; undefined: unknown. */
  get longest(): string | undefined {
    const [longest] = [...this.#seconds].sort(([, a], [, b]) => b - a);
    return longest === undefined ? this.current : longest[0];
  }
}

export function spokenSeconds(ranges: readonly TimeRange[]): number {
  return ranges.reduce((sum, { startSeconds, endSeconds }) => sum + endSeconds - startSeconds, 0);
}
