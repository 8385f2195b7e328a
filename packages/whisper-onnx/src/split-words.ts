/** Groups text tokens into words with their punctuation, at spaces or, for scripts without spaces, by character. */

import type { WhisperTokenizer } from "./whisper-tokenizer.ts";

export interface TokenWord {
  text: string;
  tokens: readonly number[];
}

type Text = Pick<WhisperTokenizer, "decode">;

const LANGUAGES_WITHOUT_SPACES: ReadonlySet<string> = new Set(["zh", "ja", "th", "lo", "my", "yue"]);
const OPENING = /^\s*["'“¿([{-]+$/;
const CLOSING = /^["'.。,，!！?？:：”)\]}、]+$/;
/** An incomplete UTF-8 sequence decodes to this. */
const REPLACEMENT = "\uFFFD";

export function splitWords(tokens: readonly number[], tokenizer: Text, language: string | undefined): TokenWord[] {
  const characters = toCharacters(tokens, tokenizer);
  const isSplitByCharacter = LANGUAGES_WITHOUT_SPACES.has(language ?? "");
  const words: TokenWord[] = [];
  for (const each of characters) {
    const last = words.at(-1);
    const startsWord = isSplitByCharacter || each.text.startsWith(" ");
    if (last === undefined || startsWord) words.push(each);
    else words[words.length - 1] = join(last, each);
  }
  return withPunctuation(words);
}

/** Keeps tokens that share a character together. */
function toCharacters(tokens: readonly number[], tokenizer: Text): TokenWord[] {
  const complete: TokenWord[] = [];
  let open: number[] = [];
  for (const token of tokens) {
    open.push(token);
    const text = tokenizer.decode(open);
    if (text.includes(REPLACEMENT)) continue;
    complete.push({ text, tokens: open });
    open = [];
  }
  if (open.length > 0) complete.push({ text: tokenizer.decode(open), tokens: open });
  return complete;
}

/** Attaches opening marks to the next word and closing marks to the previous one. */
function withPunctuation(words: readonly TokenWord[]): TokenWord[] {
  const tokenWords: TokenWord[] = [];
  for (const word of words) {
    const last = tokenWords.at(-1);
    const isOpened = last !== undefined && OPENING.test(last.text) && last.text.startsWith(" ");
    if (last !== undefined && (isOpened || CLOSING.test(word.text)))
      tokenWords[tokenWords.length - 1] = join(last, word);
    else tokenWords.push(word);
  }
  return tokenWords;
}

function join(a: TokenWord, b: TokenWord): TokenWord {
  return { text: a.text + b.text, tokens: [...a.tokens, ...b.tokens] };
}
