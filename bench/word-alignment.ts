/** Aligns a transcript with its reference, after normalization of what is spelled in more than one way. */

import numberToWords from "number-to-words";
import { hasRepeatedPhrase } from "../packages/moonshine-onnx/src/repeated-phrase.ts";
import { wordsOf } from "../test/support/models/word-errors.ts";

export interface WordErrors {
  words: number;
  errors: number;
  substituted: number;
  deleted: number;
  inserted: number;
  /** Length of the longest run of inserted words. */
  insertedRun: number;
}

/** Hesitations, which references contain and models leave out on purpose; Whisper's own normalizer removes them, too. */
const FILLERS = /\b(?:uh|um|mm|hmm|mhm|ah|er)\b/g;
const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/\bmr\b\.?/g, "mister"],
  [/\b(?:o\.?k\.?|okay)(?=\W|$)/g, "okay"],
  [/\bal ?right\b|\ball right\b/g, "alright"],
  [/\bgoing to\b/g, "gonna"],
  [/\bkind of\b/g, "kinda"],
  [/\by'?know\b/g, "you know"],
  [/\b(\w+)'m\b/g, "$1 am"],
  [/\b(\w+)'re\b/g, "$1 are"],
  [/\b(\w+)'ve\b/g, "$1 have"],
  [/\b(\w+)'ll\b/g, "$1 will"],
  [/\b(it|that|there|here|what)'s\b/g, "$1 is"],
  [/\blog(ged|ging)? ?[- ]?in\b/g, "log$1 in"],
  [/\bset ?up\b/g, "setup"],
  [/\bweb ?site\b/g, "website"],
];

export function normalizeTranscript(text: string): string {
  let normal = text.toLowerCase().replace(/[’‘]/g, "'").replace(/[-–—]/g, " ");
  normal = normal.replace(/(\d),(?=\d{3})/g, "$1");
  normal = normal.replace(/\d+/g, (digits) => ` ${numberToWords.toWords(Number(digits)).replace(/[-,]/g, " ")} `);
  for (const [pattern, spelling] of SPELLINGS) normal = normal.replace(pattern, spelling);
  return wordsOf(normal.replace(FILLERS, " ")).join(" ");
}

export function hasLoop(text: string): boolean {
  return hasRepeatedPhrase(text);
}

/** Minimal substitutions, deletions and insertions that turn the reference into the transcript. */
export function countWordErrors(reference: string, transcript: string): WordErrors {
  const [expected, heard] = [wordsOf(reference), wordsOf(transcript)];
  const width = heard.length + 1;
  const cost = new Uint16Array((expected.length + 1) * width);
  const at = (row: number, column: number) => cost[row * width + column] ?? 0;
  for (let row = 0; row <= expected.length; row += 1) {
    for (let column = 0; column < width; column += 1) {
      if (row === 0 || column === 0) cost[row * width + column] = row + column;
      else {
        const replaced = at(row - 1, column - 1) + Number(expected[row - 1] !== heard[column - 1]);
        cost[row * width + column] = Math.min(replaced, at(row - 1, column) + 1, at(row, column - 1) + 1);
      }
    }
  }
  const counts = { substituted: 0, deleted: 0, inserted: 0, insertedRun: 0 };
  let run = 0;
  for (let row = expected.length, column = heard.length; row > 0 || column > 0; ) {
    const isSame = row > 0 && column > 0 && expected[row - 1] === heard[column - 1];
    const isReplaced = row > 0 && column > 0 && at(row, column) === at(row - 1, column - 1) + Number(!isSame);
    const isInserted = !isReplaced && column > 0 && at(row, column) === at(row, column - 1) + 1;
    run = isInserted ? run + 1 : 0;
    counts.insertedRun = Math.max(counts.insertedRun, run);
    if (isInserted) counts.inserted += 1;
    else if (!isReplaced) counts.deleted += 1;
    else if (!isSame) counts.substituted += 1;
    if (!isInserted) row -= 1;
    if (isReplaced || isInserted) column -= 1;
  }
  const errors = counts.substituted + counts.deleted + counts.inserted;
  return { words: expected.length, errors, ...counts };
}
