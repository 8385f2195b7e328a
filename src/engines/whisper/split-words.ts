/** A text's tokens put together into words, as they are written: with their punctuation, at spaces or by character. */

import type { Vocabulary } from "./vocabulary.ts";

export interface TokenWord {
  text: string;
  tokens: readonly number[];
}

type Text = Pick<Vocabulary, "decode">;

const WRITTEN_WITHOUT_SPACES: ReadonlySet<string> = new Set(["zh", "ja", "th", "lo", "my", "yue"]);
const OPENING = /^\s*["'“¿([{-]+$/;
const CLOSING = /^["'.。,，!！?？:：”)\]}、]+$/;
/** What a character cut in two decodes to. */
const REPLACEMENT = "\uFFFD";

export function splitWords(tokens: readonly number[], vocabulary: Text, language: string | undefined): TokenWord[] {
  const characters = intoWhole(tokens, vocabulary);
  const isApart = WRITTEN_WITHOUT_SPACES.has(language ?? "");
  const words: TokenWord[] = [];
  for (const each of characters) {
    const last = words.at(-1);
    const begins = isApart || each.text.startsWith(" ");
    if (last === undefined || begins) words.push(each);
    else words[words.length - 1] = join(last, each);
  }
  return withPunctuation(words);
}

/** Tokens that share a character stay together. */
function intoWhole(tokens: readonly number[], vocabulary: Text): TokenWord[] {
  const whole: TokenWord[] = [];
  let open: number[] = [];
  for (const token of tokens) {
    open.push(token);
    const text = vocabulary.decode(open);
    if (text.includes(REPLACEMENT)) continue;
    whole.push({ text, tokens: open });
    open = [];
  }
  if (open.length > 0) whole.push({ text: vocabulary.decode(open), tokens: open });
  return whole;
}

/** Opening marks go to the word after, closing ones to the word before. */
function withPunctuation(words: readonly TokenWord[]): TokenWord[] {
  const kept: TokenWord[] = [];
  for (const word of words) {
    const last = kept.at(-1);
    const isOpened = last !== undefined && OPENING.test(last.text) && last.text.startsWith(" ");
    if (last !== undefined && (isOpened || CLOSING.test(word.text))) kept[kept.length - 1] = join(last, word);
    else kept.push(word);
  }
  return kept;
}

function join(a: TokenWord, b: TokenWord): TokenWord {
  return { text: a.text + b.text, tokens: [...a.tokens, ...b.tokens] };
}
