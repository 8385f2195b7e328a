/** Sentence ends and commas that a model wrote side by side. Ellipses and "?!" are left alone. */
const DOUBLED = /(\S*?[\p{L}\p{N}])([.!?]|[,;:])([,;:]+|\.(?!\.))(?=\s+(\S)|\s*$)/gu;
/** Abbreviations keep their full stop before a comma: "a.m.,", "Inc.,", "etc.,". */
const ABBREVIATION = /^(?:.*\..*|[A-Z]\p{L}{0,3}|etc|vs|approx)$/u;

/** Keeps one of two adjacent punctuation marks, such as in "might be.,": the one that the next word calls for. */
export function tidyPunctuation(text: string): string {
  return text.replace(DOUBLED, (match, word: string, first: string, rest: string, next: string | undefined) => {
    if (first === "." && rest === "," && ABBREVIATION.test(word)) return match;
    const marks = [first, ...rest];
    const sentenceEnd = marks.find((mark) => ".!?".includes(mark));
    const other = marks.find((mark) => !".!?".includes(mark));
    const continues = next !== undefined && /\p{Ll}/u.test(next);
    return word + ((continues ? (other ?? sentenceEnd) : (sentenceEnd ?? other)) ?? "");
  });
}
