/** Text to the pieces that are synthesised one by one. */

/** Ends with a full stop that ends no sentence. */
const ABBREVIATION =
  /(?:^|[\s(])(?:\p{Lu}|Mr|Mrs|Ms|Dr|Prof|St|Mt|Rev|Gen|Col|Lt|Sgt|Capt|Gov|Sen|Rep|Hon|Pres|Jr|Sr|No|Nos|Fig|vs|etc|approx|e\.g|i\.e|cf|al)\.\s*$/u;

const sentences = new Intl.Segmenter("en", { granularity: "sentence" });
const words = new Intl.Segmenter("en", { granularity: "word" });
const characters = new Intl.Segmenter("en", { granularity: "grapheme" });

/** None is longer than `mostCharacters`, but for a single character that is itself; none is empty. */
export function splitSentences(text: string, mostCharacters: number): string[] {
  return text
    .split("\n")
    .flatMap((paragraph) => joinAbbreviations(paragraph).flatMap((each) => cut(each, mostCharacters)));
}

function joinAbbreviations(paragraph: string): string[] {
  const joined: string[] = [];
  let previous = "";
  for (const { segment } of sentences.segment(paragraph)) {
    const before = joined.at(-1);
    if (before !== undefined && ABBREVIATION.test(previous)) joined[joined.length - 1] = before + segment;
    else joined.push(segment);
    previous = segment;
  }
  return joined.map((each) => each.trim()).filter((each) => each !== "");
}

/** At a clause's end if there is one, else between words, else between characters. */
function cut(sentence: string, most: number): string[] {
  if (sentence.length <= most) return [sentence];
  const clauses = sentence.split(/(?<=[,;:—、，；：)\]])(?=[\s\p{Lo}])|(?<=\s)(?=[–—(])/u);
  const parts = clauses.length > 1 ? clauses : segments(words, sentence);
  return pack(
    parts.flatMap((part) => {
      if (part.length <= most) return [part];
      return clauses.length > 1 ? cut(part, most) : segments(characters, part);
    }),
    most,
  );
}

function segments(segmenter: Intl.Segmenter, text: string): string[] {
  return [...segmenter.segment(text)].map(({ segment }) => segment);
}

/** As few pieces as their order allows. */
function pack(parts: readonly string[], most: number): string[] {
  const packed: string[] = [];
  let current = "";
  for (const part of parts) {
    if (current !== "" && current.length + part.length > most) {
      packed.push(current);
      current = "";
    }
    current += part;
  }
  packed.push(current);
  return packed.map((each) => each.trim()).filter((each) => each !== "");
}
