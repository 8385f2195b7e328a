/** A pattern at the current position (flags `u` and `y`) and its replacement; `$&` keeps the match. */
export type Rule = readonly [pattern: RegExp, replacement: string];

/** Makes rules from pairs of a pattern's source and its replacement. */
export function rules(...pairs: readonly (readonly [source: string, replacement: string])[]): Rule[] {
  return pairs.map(([source, replacement]) => [new RegExp(source, "uy"), replacement]);
}

/**
 * Rewrites a word from left to right by the first rule that matches at each position, and drops letters that no rule
 * matches. Patterns see the original word before and after the position.
 */
export function rewrite(word: string, list: readonly Rule[]): string {
  let result = "";
  let position = 0;
  while (position < word.length) {
    const [matched, replacement] = firstMatch(word, position, list);
    result += replacement === "$&" ? matched : replacement;
    position += matched.length;
  }
  return result;
}

function firstMatch(word: string, position: number, list: readonly Rule[]): [matched: string, replacement: string] {
  for (const [pattern, replacement] of list) {
    pattern.lastIndex = position;
    const matched = pattern.exec(word)?.[0] ?? "";
    if (matched !== "") return [matched, replacement];
  }
  return [word.charAt(position), ""];
}
