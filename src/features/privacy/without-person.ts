import type { Person, TextKind } from "../../storage/personal-data.ts";

/** Returns the text with the person's pseudonym in place of the passages that name the person. */
export function withoutPerson(
  text: string,
  kind: TextKind,
  { quotations, pseudonym }: Pick<Person, "quotations" | "pseudonym">,
): { erased: string; passages: string[] } {
  const passages: string[] = [];
  const toPseudonym = (passage: string) => {
    passages.push(passage);
    return pseudonym;
  };
  const identifiers = quotations.filter(({ isIdentifier }) => isIdentifier);
  const erase = (prose: string, ways: Person["quotations"]) =>
    ways.reduce((rest, quotation) => quotation.replace(rest, toPseudonym), prose);
  if (kind === "prose") return { erased: erase(text, quotations), passages };
  if (kind === "label") return { erased: erase(text, identifiers), passages };
  const eraseString = (value: string) =>
    erase(value, kind === "definition" && !/\s/.test(value) ? identifiers : quotations);
  return { erased: mapStrings(text, eraseString), passages };
}

/** Returns JSON with the results of `change` for its strings, keys and values. The rest stays as it is written. */
function mapStrings(json: string, change: (value: string) => string): string {
  let [changed, end] = ["", 0];
  for (let start = json.indexOf('"'); start !== -1; start = json.indexOf('"', end)) {
    changed += json.slice(end, start);
    end = endOfString(json, start);
    const string = json.slice(start, end);
    const value: string = JSON.parse(string);
    const result = change(value);
    changed += result === value ? string : JSON.stringify(result);
  }
  return changed + json.slice(end);
}

/** Index after the quotation mark that ends the string: a regular expression would need a stack as long as the string. */
function endOfString(json: string, start: number): number {
  let quote = start;
  do {
    quote = json.indexOf('"', quote + 1);
  } while (quote !== -1 && isEscaped(json, quote));
  return quote === -1 ? json.length : quote + 1;
}

function isEscaped(json: string, index: number): boolean {
  let backslashes = 0;
  while (json[index - 1 - backslashes] === "\\") backslashes += 1;
  return backslashes % 2 === 1;
}
