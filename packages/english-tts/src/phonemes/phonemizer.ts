/** Converts English sentences to phonemes, in the alphabet that Kokoro was trained on. */

import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { toBritish } from "./british.ts";
import { GraphemeToPhoneme, type GraphemeToPhonemeAlphabet } from "./grapheme-to-phoneme.ts";
import { type NormalizationTables, TextNormalizer } from "./normalize-text.ts";
import { PartOfSpeechTagger, type TaggerWeights } from "./part-of-speech-tagger.ts";
import { type Accent, type Dictionary, Pronunciations } from "./pronunciations.ts";
import { VOWELS, weaken } from "./stress.ts";

interface Dictionaries {
  checkedDictionary: string;
  guessedDictionary: string;
}

/** Paths of the model's files. */
export interface PhonemizerFiles extends Dictionaries {
  tagger: string;
  normalization: string;
  graphemeToPhoneme: string;
  graphemeToPhonemeAlphabet: string;
}

/** Returns the paths of the files by their names in the models' packages. */
export function phonemizerFiles(path: (name: string) => string): PhonemizerFiles {
  return {
    checkedDictionary: path("dictionary-checked.json.gz"),
    guessedDictionary: path("dictionary-guessed.json.gz"),
    tagger: path("tagger.json.gz"),
    normalization: path("spelling.json"),
    graphemeToPhoneme: path("unknown-words.onnx"),
    graphemeToPhonemeAlphabet: path("unknown-words.json"),
  };
}

/** Returns the paths of the British dictionaries, by their names in the models' packages. */
export function britishDictionaries(path: (name: string) => string): Dictionaries {
  return {
    checkedDictionary: path("dictionary-british-checked.json"),
    guessedDictionary: path("dictionary-british-guessed.json"),
  };
}

interface Token {
  text: string;
  isSpaced: boolean;
  tag: string;
}

const TOKEN = /(?:\p{L}\.)+\p{L}(?!\p{L})\.?|[\p{L}\p{M}]+(?:['’-][\p{L}\p{M}]+)*['’]?|\.{2,}|[^\s\p{L}\p{M}]/gu;
const CLITIC = /^(.+?)(n't|'(?:s|m|d|re|ve|ll))$/i;
const PUNCTUATION: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ";": ";",
    ":": ":",
    ",": ",",
    ".": ".",
    "!": "!",
    "?": "?",
    "—": "—",
    "–": "—",
    "-": "—",
    "…": "…",
    "(": "(",
    ")": ")",
    "“": "“",
    "”": "”",
    '"': "",
    "。": ".",
    "，": ",",
    "、": ",",
    "！": "!",
    "？": "?",
  }),
);
const CLAUSE_END = /^[;:,.!?—…]/;

export class Phonemizer {
  readonly #normalizer: TextNormalizer;
  readonly #tagger: PartOfSpeechTagger;
  readonly #pronunciations: Pronunciations;
  readonly #graphemeToPhoneme: GraphemeToPhoneme;
  readonly #accent: Accent;

  private constructor(
    parts: [TextNormalizer, PartOfSpeechTagger, Pronunciations, GraphemeToPhoneme],
    accent: Accent = "american",
  ) {
    [this.#normalizer, this.#tagger, this.#pronunciations, this.#graphemeToPhoneme] = parts;
    this.#accent = accent;
  }

  static async open(files: PhonemizerFiles): Promise<Phonemizer> {
    const normalization = await readJson<NormalizationTables>(files.normalization);
    const tagger = await readJson<TaggerWeights>(files.tagger);
    const pronunciations = await readPronunciations(files, "american");
    const alphabet = await readJson<GraphemeToPhonemeAlphabet>(files.graphemeToPhonemeAlphabet);
    return new Phonemizer([
      new TextNormalizer(normalization),
      new PartOfSpeechTagger(tagger),
      pronunciations,
      await GraphemeToPhoneme.open(files.graphemeToPhoneme, alphabet),
    ]);
  }

  /** One with British pronunciations, which ends with this one. */
  async toBritish(dictionaries: Dictionaries): Promise<Pick<Phonemizer, "phonemize">> {
    const pronunciations = await readPronunciations(dictionaries, "british");
    return new Phonemizer([this.#normalizer, this.#tagger, pronunciations, this.#graphemeToPhoneme], "british");
  }

  /** Returns an empty string when nothing in the sentence can be read as English. */
  async phonemize(sentence: string): Promise<string> {
    const tokens = this.#tokenize(this.#normalizer.normalize(sentence));
    const sounds: string[] = [];
    let isBeforeVowel: boolean | undefined;
    let isBeforeTo = false;
    // Backwards, because the sound of function words depends on the next word.
    for (const { text, tag, isSpaced } of tokens.toReversed()) {
      const mark = PUNCTUATION.get(text) ?? (text.startsWith("..") ? "…" : undefined);
      const sound =
        mark ?? (await this.#pronounce({ text: text.replaceAll("’", "'"), tag, isBeforeVowel, isBeforeTo }));
      sounds.unshift(isSpaced ? ` ${sound}` : sound);
      if (CLAUSE_END.test(sound)) isBeforeVowel = undefined;
      else isBeforeVowel = beginsWithVowel(sound) ?? isBeforeVowel;
      isBeforeTo = text.toLowerCase() === "to";
    }
    const phonemes = sounds.join("").replaceAll("ɾ", "T").replaceAll("ʔ", "t").replaceAll(/ {2,}/g, " ").trim();
    return /[\p{L}]/u.test(phonemes) ? phonemes : "";
  }

  async close(): Promise<void> {
    await this.#graphemeToPhoneme.close();
  }

  #tokenize(sentence: string): Token[] {
    const matches = [...sentence.matchAll(TOKEN)];
    // The tagger was trained on text that splits contractions in two.
    const words = matches.flatMap(([text]) => CLITIC.exec(text.replaceAll("’", "'"))?.slice(1) ?? [text]);
    const tags = this.#tagger.tag(words);
    let word = 0;
    return matches.map((match) => {
      const [text] = match;
      const tag = tags[word] ?? "NN";
      word += CLITIC.test(text.replaceAll("’", "'")) ? 2 : 1;
      return { text, tag, isSpaced: match.index > 0 && sentence[match.index - 1] === " " };
    });
  }

  async #pronounce(word: Parameters<Pronunciations["lookUp"]>[0]): Promise<string> {
    const pronunciation = this.#pronunciations.lookUp(word);
    if (pronunciation !== undefined) return pronunciation;
    const parts = partsOf(word.text);
    if (parts.length === 1) return await this.#guess(word.text);
    const sounds: string[] = [];
    for (const text of parts) sounds.push(await this.#pronounce({ ...word, text }));
    const spoken = sounds.filter((sound) => sound !== "");
    return spoken.length === 2 ? `${weaken(spoken[0] ?? "")}${spoken[1]}` : spoken.join(" ");
  }

  /** The network was trained on American English. */
  async #guess(word: string): Promise<string> {
    const guess = (await this.#graphemeToPhoneme.guess(word)) ?? "";
    return this.#accent === "british" ? toBritish(guess, word) : guess;
  }
}

async function readPronunciations(files: Dictionaries, accent: Accent): Promise<Pronunciations> {
  const checked = await readJson<Dictionary>(files.checkedDictionary);
  return new Pronunciations(checked, await readJson<Dictionary>(files.guessedDictionary), accent);
}

/** Splits `well-known`, `iPhone` and `GitHub`, which are read part by part. */
function partsOf(word: string): string[] {
  return word.split(/-|(?<=\p{Ll})(?=\p{Lu})/u).filter((part) => part !== "");
}

function beginsWithVowel(sound: string): boolean | undefined {
  const [first] = sound.replaceAll(/[^\p{L}]|[ˈˌ]/gu, "");
  return first === undefined ? undefined : VOWELS.includes(first) || first === "ɐ";
}

async function readJson<Content>(file: string): Promise<Content> {
  const bytes = await readFile(file);
  const text = file.endsWith(".gz") ? await promisify(gunzip)(bytes) : bytes;
  return JSON.parse(text.toString("utf8")) as Content;
}
