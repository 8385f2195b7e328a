/** What `readAloud` needs to know about a language. */
export interface ReadingRules {
  /** BCP 47, for names of months, units and currencies. */
  locale: string;
  decimalMark: "," | ".";
  /** Words of a number with `.` as its decimal mark. `next` is the following word, with which it may agree. */
  cardinal(value: string, next: string): string;
  /** Words of an ordinal, written with one of `ordinalMarks`. */
  ordinal(value: string, mark: string): string;
  /** Source of a pattern of what stands after the digits of an ordinal, such as `º|ª`. */
  ordinalMarks: string;
  /** Word for the first day of a month, if it is not the number. */
  firstDay?: string;
  /** Words of a time of day, in which digits may stay. */
  clock(hours: number, minutes: number): string;
  /** Between an amount in full units and one in hundredths. */
  centsWord: string;
  /** After millions: "cinco millones de euros". */
  ofWord: string;
  /** Between the ends of a range. */
  rangeWord: string;
  minusWord: string;
  /** Between the numbers of a version: 2.0.1. */
  pointWord: string;
  /** Words for symbols, each a single character. */
  symbols: Readonly<Record<string, string>>;
  /** Words for abbreviations, with their full stops. */
  abbreviations: Readonly<Record<string, string>>;
  /** Matches the start of a text after a number, such as a verb, that only looks like a unit's symbol. */
  notUnit?: RegExp;
  /** Reads Roman numerals of at least two letters. `previous` is the word before, in lower case. */
  roman(value: string, previous: string): string;
}
