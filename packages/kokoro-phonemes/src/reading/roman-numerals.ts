const VALUES: readonly (readonly [string, number])[] = [
  ["X", 10],
  ["IX", 9],
  ["V", 5],
  ["IV", 4],
  ["I", 1],
];

/** Returns the value of a Roman numeral up to 39, as centuries and monarchs have; undefined for other letters. */
export function romanValue(letters: string): number | undefined {
  let rest = letters;
  let value = 0;
  for (const [symbol, number] of VALUES) {
    const isRepeated = symbol === "X" || symbol === "I";
    for (let count = 0; count < (isRepeated ? 3 : 1) && rest.startsWith(symbol); count += 1) {
      value += number;
      rest = rest.slice(symbol.length);
    }
  }
  return rest === "" ? value : undefined;
}
