/**
 * Bounds of what is compiled, so that a hostile schema is refused at once instead of keeping a process busy: all of them
 * are far above what applications send.
 */
export const LIMITS = {
  /** For what no other bound foresees. */
  compileMilliseconds: 10_000,
  /** Values of all kinds inside the schema, and how deep they stand in each other. */
  values: 20_000,
  depth: 128,
  /** Characters of all names and texts in the schema. */
  characters: 400_000,
  /** Steps of merging schemas that have to hold together. */
  merges: 50_000,
  /** Kinds of values that one place may take after anyOf, oneOf and types are multiplied out. */
  alternatives: 500,
  /** Different places that values may stand at. */
  nodes: 10_000,
  /** States of the automaton of one text, of its pattern before it is made deterministic, of all texts, of one number. */
  automatonStates: 3_000,
  patternStates: 1_000,
  allTextStates: 6_000,
  /** Ranges of characters in all of an automaton's steps: some classes have hundreds. */
  characterRanges: 40_000,
  numberStates: 5_000,
  /** Rules and characters of the grammar. */
  rules: 20_000,
  grammarCharacters: 1_500_000,
  /** What numbers may have to be a multiple of. */
  multipleOf: 100,
  /** Characters of all values of `enum` and `const` at one place; of the names that others must differ from. */
  words: 200_000,
  names: 10_000,
  /** Items of an array that has a most or least number of them. */
  items: 2_000,
  /** Characters of a text that has a most or least number of them. */
  textLength: 100_000,
  /** Properties of one object that may be left out: each is a way to go on that has to be tried for every token. */
  optional: 300,
  /** How many readings of one text the grammar may have to follow at once. */
  readings: 400,
} as const;
