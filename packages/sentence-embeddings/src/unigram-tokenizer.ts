/** Tokenizes with a SentencePiece Unigram model: the most probable sequence of pieces. */

import { UnknownTokenError } from "./errors.ts";
import type { PackedVocabulary } from "./packed-model.ts";
import { textPieces } from "./text-pieces.ts";

/** Begins each word, and stands for spaces. */
const SPACE = "\u2581";
/** Control tokens, which no text contains. */
const CONTROL = /^<(?:s|\/s|pad|unk|mask)>$/;
/** An unknown character costs this more than the least probable piece, as in SentencePiece. */
const UNKNOWN_PENALTY = 10;

export class UnigramTokenizer {
  readonly vocabularySize: number;
  readonly #ids = new Map<string, number>();
  readonly #vocabulary: PackedVocabulary;
  readonly #unknownScore: number;
  readonly #maxCharacters: number;

  constructor(vocabulary: PackedVocabulary) {
    const { pieces, scores } = vocabulary;
    this.#vocabulary = vocabulary;
    this.vocabularySize = pieces.length;
    let lowest = 0;
    let longest = 1;
    for (const [id, piece] of pieces.entries()) {
      if (piece !== "" && !CONTROL.test(piece) && !this.#ids.has(piece)) this.#ids.set(piece, id);
      lowest = Math.min(lowest, scores[id] ?? 0);
      longest = Math.max(longest, piece.length);
    }
    this.#unknownScore = lowest - UNKNOWN_PENALTY;
    this.#maxCharacters = longest;
  }

  /** Tokenizes without special tokens; each piece of the text takes some milliseconds. */
  *encodePieces(text: string): Generator<readonly number[], void> {
    for (const piece of textPieces(text)) yield this.#encode(piece);
  }

  /** Removes the special tokens around the caller's IDs. Throws an UnknownTokenError for an ID outside the vocabulary. */
  stripSpecialTokens(ids: readonly number[], input: number): readonly number[] {
    const position = ids.findIndex((id) => !(Number.isInteger(id) && id >= 0 && id < this.vocabularySize));
    if (position !== -1) throw new UnknownTokenError(input, position, ids[position] ?? -1, this.vocabularySize);
    const start = ids[0] === this.#vocabulary.begin ? 1 : 0;
    const end = ids.length > start && ids.at(-1) === this.#vocabulary.end ? ids.length - 1 : ids.length;
    return ids.slice(start, end);
  }

  addSpecialTokens(ids: readonly number[]): readonly number[] {
    return [this.#vocabulary.begin, ...ids, this.#vocabulary.end];
  }

  #encode(text: string): number[] {
    const normalized = this.#normalize(text);
    return normalized === "" ? [] : this.#mostProbable(`${SPACE}${normalized.replaceAll(" ", SPACE)}`);
  }

  #normalize(text: string): string {
    const { replacements } = this.#vocabulary;
    let replaced = "";
    for (const character of text.normalize("NFKC")) {
      replaced += replacements.get(character.codePointAt(0) ?? 0) ?? character;
    }
    return replaced.replaceAll(/ {2,}/g, " ").trim();
  }

  /** Viterbi's algorithm over the ends of pieces. */
  #mostProbable(text: string): number[] {
    const best = new Float64Array(text.length + 1).fill(-Infinity);
    const from = new Int32Array(text.length + 1);
    const last = new Int32Array(text.length + 1);
    best[0] = 0;
    const reach = (start: number, end: number, id: number, score: number) => {
      const total = (best[start] ?? 0) + score;
      if (total <= (best[end] ?? 0)) return;
      best[end] = total;
      from[end] = start;
      last[end] = id;
    };
    for (let start = 0; start < text.length; start += 1) {
      if (best[start] === -Infinity) continue;
      const maxEnd = Math.min(text.length, start + this.#maxCharacters);
      for (let end = start + 1; end <= maxEnd; end += 1) {
        const id = this.#ids.get(text.slice(start, end));
        if (id !== undefined) reach(start, end, id, this.#vocabulary.scores[id] ?? 0);
      }
      const next = start + String.fromCodePoint(text.codePointAt(start) ?? 0).length;
      reach(start, next, this.#vocabulary.unknown, this.#unknownScore);
    }
    const ids: number[] = [];
    for (let end = text.length; end > 0; end = from[end] ?? 0) ids.push(last[end] ?? 0);
    return ids.reverse();
  }
}
