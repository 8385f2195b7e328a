/**
 * Limits of the compiler, which refuse a hostile schema before it exhausts CPU or memory. All of them are far above what
 * applications send.
 */
export const LIMITS = {
  /** Backstop for anything the other limits do not catch. */
  compileMs: 10_000,
  /** Validation of one value: patterns can backtrack exponentially, references can expand exponentially. */
  validateMs: 2_000,
  /** JSON values in the schema, and their nesting. */
  values: 20_000,
  depth: 128,
  /** Characters of all names and strings in the schema. */
  characters: 400_000,
  /** Intersections of subschemas. */
  merges: 50_000,
  /** Alternatives of one node after `anyOf` and `oneOf` are expanded. */
  alternatives: 500,
  /** Nodes of the schema graph. */
  nodes: 10_000,
  /** States of one string's DFA, of its pattern's NFA, of all strings' DFAs, of one number's DFA. */
  automatonStates: 3_000,
  patternStates: 1_000,
  allStringStates: 6_000,
  /** Character ranges on all transitions of an automaton: some Unicode classes have hundreds. */
  characterRanges: 40_000,
  numberStates: 5_000,
  /** Rules and characters of the grammar. */
  rules: 20_000,
  grammarCharacters: 1_500_000,
  /** Maximum value of `multipleOf`. */
  multipleOf: 100,
  /** Characters of a node's `enum` and `const` values, and of the property names that additional names must differ from. */
  words: 200_000,
  names: 10_000,
  /** Classes of property names that match the same patterns. */
  nameClasses: 32,
  /** Values of the items of an array with `uniqueItems`: each subset of them is a state. */
  uniqueValues: 8,
  /** Maximum value of `minItems` and `maxItems`. */
  items: 2_000,
  /** Maximum value of `minLength` and `maxLength`. */
  stringLength: 100_000,
  /** Optional properties of one object: each is a branch that the sampler tries for every token. */
  optional: 300,
  /** Parses of one text that the sampler may have to track in parallel. */
  parses: 400,
} as const;
