/** Cuts the text of an answer into sentences to speak while it is written, and relates text to the audio of it. */

/** A text and when it is spoken, in milliseconds from the beginning of its item's audio. */
export interface SpokenText {
  text: string;
  startMs: number;
  endMs: number;
}

/** A first clause of this length is spoken before its sentence is complete, which shortens the wait for the first sound. */
const MIN_CLAUSE_CHARACTERS = 40;
/** Text without an end of a sentence is spoken in pieces of this length. */
const MAX_PIECE_CHARACTERS = 400;

const SENTENCES = new Intl.Segmenter("en", { granularity: "sentence" });

export class SentenceSplitter {
  #text = "";
  #hasSpoken = false;

  /** Returns the sentences that are complete with this text. */
  push(text: string): string[] {
    this.#text += text;
    const sentences = [...SENTENCES.segment(this.#text)].map(({ segment }) => segment);
    // The last one may go on: "3." becomes "3.5".
    const complete = sentences.slice(0, -1);
    this.#text = sentences.at(-1) ?? "";
    const early = complete.length === 0 ? this.#takeEarly() : undefined;
    if (early !== undefined) complete.push(early);
    if (complete.length > 0) this.#hasSpoken = true;
    return complete;
  }

  /** Returns the rest. */
  end(): string[] {
    const rest = this.#text;
    this.#text = "";
    return rest === "" ? [] : [rest];
  }

  #takeEarly(): string | undefined {
    const end = this.#hasSpoken ? undefined : endOfClause(this.#text, MIN_CLAUSE_CHARACTERS);
    const at = end ?? endOfPiece(this.#text);
    if (at === undefined) return undefined;
    const sentence = this.#text.slice(0, at);
    this.#text = this.#text.slice(at);
    return sentence;
  }
}

/** Returns the position after the first comma, semicolon or colon that follows `min` characters. */
function endOfClause(text: string, min: number): number | undefined {
  const pause = /[,;:]\s/.exec(text.slice(min));
  return pause === null ? undefined : min + pause.index + pause[0].length;
}

/** Returns where a piece of a text without an end of a sentence ends: after its last space, or anywhere without one. */
function endOfPiece(text: string): number | undefined {
  if (text.length <= MAX_PIECE_CHARACTERS) return undefined;
  const space = text.lastIndexOf(" ") + 1;
  return space > 0 ? space : text.length;
}

/** Returns the text that was spoken until then; a sentence that was cut off keeps its words in proportion to the time. */
export function textHeardUntil(spoken: readonly SpokenText[], ms: number): string {
  const audibleParts = spoken.map(({ text, startMs, endMs }) => {
    if (endMs <= ms) return text;
    if (startMs >= ms) return "";
    const words = text.match(/\s*\S+/g) ?? [];
    return words.slice(0, Math.floor((words.length * (ms - startMs)) / (endMs - startMs))).join("");
  });
  return audibleParts.join("").trim();
}
