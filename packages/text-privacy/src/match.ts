/** What recognizers return, and what resolves their overlaps. */

/** A value in a text: UTF-16 offsets, the end exclusive. */
export interface Match {
  /** Name of the entity, such as `EMAIL_ADDRESS`. */
  type: string;
  start: number;
  end: number;
  /** 0 to 1. */
  score: number;
}

export interface Recognizer {
  /** Entities that it finds. */
  readonly types: readonly string[];
  find(text: string): Iterable<Match>;
}

/** Sorts by position and keeps, of matches that overlap, the one with the higher score, or else the longer one. */
export function resolveOverlaps(matches: readonly Match[]): Match[] {
  if (matches.length < 2) return [...matches];
  const ranked = matches.toSorted(
    (a, b) => b.score - a.score || b.end - b.start - (a.end - a.start) || a.start - b.start,
  );
  const sorted = [...ranked].sort((a, b) => a.start - b.start);
  const rank = new Map(ranked.map((match, index) => [match, index]));
  const selected: Match[] = [];
  for (const match of sorted) {
    const last = selected.at(-1);
    if (last === undefined || match.start >= last.end) selected.push(match);
    else if ((rank.get(match) ?? 0) < (rank.get(last) ?? 0)) {
      // The value that loses may reach beyond the winner: both are hidden together.
      selected[selected.length - 1] = {
        ...match,
        start: Math.min(last.start, match.start),
        end: Math.max(last.end, match.end),
      };
    } else if (match.end > last.end) selected[selected.length - 1] = { ...last, end: match.end };
  }
  return selected;
}

/** Whether `words` occur in the characters around a match. */
export function hasContext(
  text: string,
  { start, end }: Pick<Match, "start" | "end">,
  words: RegExp,
  [before, after]: readonly [number, number] = [60, 24],
): boolean {
  return words.test(`${text.slice(Math.max(0, start - before), start)}\n${text.slice(end, end + after)}`);
}
