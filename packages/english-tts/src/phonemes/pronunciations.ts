/** Pronounces English words: two dictionaries of an accent, rules for inflections and for function words. */

import { atLeastPrimary, atLeastSecondary, PRIMARY, stressLastLetter } from "./stress.ts";

/** Maps a word to its phonemes, or, for a homograph, to those of each part of speech (`None`: at the end of a clause). */
export type Dictionary = Readonly<Record<string, string | Readonly<Record<string, string | null>>>>;

export interface WordInContext {
  /** With straight apostrophes. */
  text: string;
  /** Penn Treebank. */
  tag: string;
  /** Whether the next word begins with a vowel; undefined at the end of a clause. */
  isBeforeVowel: boolean | undefined;
  isBeforeTo: boolean;
}

export type Accent = "american" | "british";

/** Sounds after which an American `t` becomes a tap. */
const TAPPING = "AIOWYiuæɑəɛɪɹʊʌ";

export class Pronunciations {
  readonly #checked: Dictionary;
  readonly #guessed: Dictionary;
  readonly #isBritish: boolean;

  /** `guessed` is less reliable and used only for words that `checked` lacks. */
  constructor(checked: Dictionary, guessed: Dictionary, accent: Accent = "american") {
    this.#checked = checked;
    this.#guessed = guessed;
    this.#isBritish = accent === "british";
  }

  /** Returns undefined for a word that no dictionary or rule covers. */
  lookUp(word: WordInContext): string | undefined {
    const special = this.#functionWord(word) ?? this.#initials(word.text);
    if (special !== undefined) return special;
    const match = this.#withInflections(this.#dictionarySpelling(word), word);
    if (match === undefined || word.text === word.text.toLowerCase()) return match;
    return word.text === word.text.toUpperCase() ? atLeastPrimary(match) : atLeastSecondary(match);
  }

  /** Returns undefined unless every character is a letter. */
  spell(letters: string): string | undefined {
    const sounds = [...letters.toUpperCase()].map((letter) =>
      // The dictionary has the American name.
      this.#isBritish && letter === "Z" ? "zˈɛd" : this.#checked[letter],
    );
    if (sounds.length === 0 || !sounds.every((sound) => typeof sound === "string")) return undefined;
    return stressLastLetter(sounds);
  }

  #functionWord(word: WordInContext): string | undefined {
    const { text } = word;
    const isAcronym = text === text.toUpperCase() && text.length > 1;
    const sound = FUNCTION_WORDS.get(isAcronym ? text : text.toLowerCase())?.(word);
    return this.#isBritish ? sound?.replace("u", "uː") : sound;
  }

  /** `U.S.`, `e.g`, `A.M` */
  #initials(text: string): string | undefined {
    return /^(?:\p{L}{1,2}\.)+\p{L}{0,2}\.?$/u.test(text) ? this.spell(text.replaceAll(".", "")) : undefined;
  }

  /** Chooses between the given spelling and the lower-case one. */
  #dictionarySpelling({ text, tag }: WordInContext): string {
    const small = text.toLowerCase();
    if (text === small || this.#has(text)) return text;
    const isCapitalized = text === text.toUpperCase() || text.slice(1) === text.slice(1).toLowerCase();
    const mayBeName = tag === "NNP" && text.length <= 7;
    return isCapitalized && (!mayBeName || this.#has(small)) && this.#withInflections(small, { tag }) !== undefined
      ? small
      : text;
  }

  #withInflections(text: string, word: Pick<WordInContext, "tag"> & Partial<WordInContext>): string | undefined {
    const match = this.#find(text, word);
    if (match !== undefined) return match;
    const withoutApostrophe = text.replace(/'$/, "");
    if (withoutApostrophe !== text) return this.#withInflections(withoutApostrophe, word);
    return this.#plural(text, word) ?? this.#past(text, word) ?? this.#participle(text, word) ?? this.#acronym(text);
  }

  #acronym(text: string): string | undefined {
    if (!/^[A-Z]+$/.test(text.slice(1))) return /^[A-Za-z]$/.test(text) ? this.spell(text) : undefined;
    return this.spell(text);
  }

  #plural(text: string, word: Pick<WordInContext, "tag">): string | undefined {
    const stem =
      this.#firstOf(word, [
        /[^s]s$/.test(text) && text.slice(0, -1),
        (/'s$/.test(text) || /[^i]es$/.test(text)) && text.slice(0, -2),
        /ies$/.test(text) && `${text.slice(0, -3)}y`,
      ]) ?? (/'s$/.test(text) ? this.#acronym(text.slice(0, -2)) : undefined);
    if (stem === undefined) return undefined;
    if (/[ptkfθ]$/.test(stem)) return `${stem}s`;
    return /[szʃʒʧʤ]$/.test(stem) ? `${stem}${this.#weakVowel}z` : `${stem}z`;
  }

  #past(text: string, word: Pick<WordInContext, "tag">): string | undefined {
    const stem = this.#firstOf(word, [
      /[^d]d$/.test(text) && text.slice(0, -1),
      /[^e]ed$/.test(text) && text.slice(0, -2),
      /([bdgklmnprtvz])\1ed$/.test(text) && text.slice(0, -3),
    ]);
    if (stem === undefined) return undefined;
    if (/[pkfθʃsʧ]$/.test(stem)) return `${stem}t`;
    return /[dt]$/.test(stem) ? `${this.#tapped(stem)}${this.#weakVowel}d` : `${stem}d`;
  }

  #participle(text: string, word: Pick<WordInContext, "tag">): string | undefined {
    if (!/..ing$/.test(text)) return undefined;
    const stem = this.#firstOf(word, [
      text.slice(0, -3),
      `${text.slice(0, -3)}e`,
      /([bcdgklmnprstvxz])\1ing$|cking$/.test(text) && text.slice(0, -4),
    ]);
    if (stem === undefined) return undefined;
    // An r that is not spoken at the end of a word is before the vowel.
    const link = this.#isBritish && /[əː]$/.test(stem) && /rr?ing$/.test(text) ? "ɹ" : "";
    return `${this.#tapped(stem)}${link}ɪŋ`;
  }

  /** The vowel of an ending that is a syllable of its own. */
  get #weakVowel(): string {
    return this.#isBritish ? "ɪ" : "ᵻ";
  }

  /** The stem as it is before a vowel. */
  #tapped(stem: string): string {
    const taps = !this.#isBritish && stem.endsWith("t") && TAPPING.includes(stem.at(-2) ?? " ");
    return taps ? `${stem.slice(0, -1)}ɾ` : stem;
  }

  #firstOf(word: Pick<WordInContext, "tag">, stems: readonly (string | false)[]): string | undefined {
    for (const stem of stems) {
      const match = stem === false || stem.length < 2 ? undefined : this.#find(stem, word);
      if (match !== undefined) return match;
    }
    return undefined;
  }

  #has(text: string): boolean {
    return this.#entry(this.#checked, text) !== undefined || this.#entry(this.#guessed, text) !== undefined;
  }

  #find(text: string, { tag, ...word }: Pick<WordInContext, "tag"> & Partial<WordInContext>): string | undefined {
    const entry = this.#entry(this.#checked, text) ?? this.#entry(this.#guessed, text);
    if (entry === undefined || typeof entry === "string") return entry;
    const isLast = "isBeforeVowel" in word && word.isBeforeVowel === undefined;
    const use = isLast && "None" in entry ? "None" : tag in entry ? tag : familyOf(tag);
    // Null marks an abbreviation, which is spelled.
    const sound = use in entry ? entry[use] : entry.DEFAULT;
    return sound ?? this.spell(text);
  }

  /** Falls back from a capitalized word to its lower-case entry, and vice versa. */
  #entry(dictionary: Dictionary, text: string): Dictionary[string] | undefined {
    if (Object.hasOwn(dictionary, text)) return dictionary[text];
    const small = text.toLowerCase();
    const capitalized = `${small.slice(0, 1).toUpperCase()}${small.slice(1)}`;
    const other = text === small ? capitalized : text === capitalized ? small : undefined;
    return other !== undefined && text.length > 1 && Object.hasOwn(dictionary, other) ? dictionary[other] : undefined;
  }
}

function familyOf(tag: string): string {
  if (tag.startsWith("VB")) return "VERB";
  if (tag.startsWith("NN")) return "NOUN";
  if (tag.startsWith("RB")) return "ADV";
  return tag.startsWith("JJ") ? "ADJ" : tag;
}

/** Pronunciations that depend on the part of speech or on the next sound, which is unknown at the end of a text. */
const FUNCTION_WORDS: ReadonlyMap<string, (word: WordInContext) => string | undefined> = new Map<
  string,
  (word: WordInContext) => string | undefined
>([
  ["a", ({ tag }) => (tag === "DT" ? "ɐ" : "ˈA")],
  ["an", () => "ɐn"],
  ["i", ({ tag }) => (tag === "PRP" ? "ˌI" : undefined)],
  ["am", (word) => beforeSound(word, "ɐm", "ɐm")],
  ["by", ({ tag }) => (tag.startsWith("RB") ? "bˈI" : undefined)],
  ["to", (word) => beforeSound(word, "tʊ", "tə")],
  ["in", (word) => (word.tag === "IN" ? beforeSound(word, "ɪn", "ɪn") : undefined) ?? `${PRIMARY}ɪn`],
  ["the", (word) => beforeSound(word, "ði", "ðə") ?? "ðə"],
  ["used", ({ tag, isBeforeTo }) => (isBeforeTo && (tag === "VBD" || tag === "JJ") ? "jˈust" : "jˈuzd")],
]);

function beforeSound({ isBeforeVowel }: WordInContext, vowel: string, consonant: string): string | undefined {
  if (isBeforeVowel === undefined) return undefined;
  return isBeforeVowel ? vowel : consonant;
}
