/** Finds the written word to which each group of phonemes of a sentence belongs. */

/** Costs of a group without a counterpart, of one unlike its counterpart, and of one that at least begins alike. */
const UNPAIRED = 0.7;
const UNLIKE = 1;
const ALIKE = 0.6;
/** A sign, such as a plus, may be silent except in its context. */
const SIGN = 0.5;
const SILENT_SIGN = 0.05;

interface Group {
  word: number;
  /** Undefined for a word that is silent by itself. */
  sound: string | undefined;
}

/**
 * Returns the index of the word that each group of `spoken` belongs to; undefined: there is no word. `alone` are the
 * groups of each word when it is read by itself, which its context may change: of "5 km", read "five kilometers", "km"
 * alone is spelled. Groups without a counterpart belong to a word next to them that is read otherwise than alone. The
 * result ascends. Groups of punctuation belong to no word.
 */
export function alignWords(alone: readonly (readonly string[])[], spoken: readonly string[]): (number | undefined)[] {
  const groups = alone.flatMap((sounds, word): Group[] =>
    sounds.length === 0 ? [{ word, sound: undefined }] : sounds.map((sound) => ({ word, sound: plain(sound) })),
  );
  const plainSounds = spoken.map(plain);
  const sounds = plainSounds.filter((sound) => sound !== "");
  const pairs = pairUp(groups, sounds);
  const same = new Set(pairs.filter((at, index) => at !== undefined && groups[at]?.sound === sounds[index]));
  const changed = new Set(groups.flatMap(({ word }, at) => (same.has(at) ? [] : [word])));
  const wordAt = (at: number | undefined) => (at === undefined ? undefined : groups[at]?.word);
  const owners = pairs.map((at, index) => {
    if (at !== undefined) return wordAt(at);
    const before = wordAt(pairs.findLast((each, other) => other < index && each !== undefined));
    const after = wordAt(pairs.find((each, other) => other > index && each !== undefined));
    return [before, after].find((word) => word !== undefined && changed.has(word)) ?? before ?? after;
  });
  const next = owners.values();
  return plainSounds.map((sound) => (sound === "" ? undefined : next.next().value));
}

/** Returns the index of the counterpart of each sound, by the cheapest alignment. */
function pairUp(groups: readonly Group[], sounds: readonly string[]): (number | undefined)[] {
  const width = sounds.length + 1;
  const costs = new Float64Array((groups.length + 1) * width);
  const at = (row: number, column: number) => costs[row * width + column] as number;
  for (let column = 1; column < width; column += 1) costs[column] = column * UNPAIRED;
  for (const [index, group] of groups.entries()) {
    const row = index + 1;
    costs[row * width] = at(index, 0) + silenceCost(group);
    for (let column = 1; column < width; column += 1) {
      costs[row * width + column] = Math.min(
        at(index, column - 1) + pairCost(group, sounds[column - 1] ?? ""),
        at(index, column) + silenceCost(group),
        at(row, column - 1) + UNPAIRED,
      );
    }
  }
  const pairs = new Array<number | undefined>(sounds.length).fill(undefined);
  let [row, column] = [groups.length, sounds.length];
  while (row > 0 && column > 0) {
    const group = groups[row - 1] as Group;
    if (at(row, column) === at(row - 1, column - 1) + pairCost(group, sounds[column - 1] ?? "")) {
      row -= 1;
      column -= 1;
      pairs[column] = row;
    } else if (at(row, column) === at(row - 1, column) + silenceCost(group)) row -= 1;
    else column -= 1;
  }
  return pairs;
}

function silenceCost({ sound }: Group): number {
  return sound === undefined ? SILENT_SIGN : UNPAIRED;
}

function pairCost({ sound }: Group, spoken: string): number {
  if (sound === undefined) return SIGN;
  if (sound === spoken) return 0;
  return sound.charAt(0) === spoken.charAt(0) ? ALIKE : UNLIKE;
}

/** Phonemes without stress and punctuation, which differ with the context. */
function plain(sound: string): string {
  return sound.replaceAll(/[^\p{L}\p{M}]|[ˈˌː]/gu, "");
}
