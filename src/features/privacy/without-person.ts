import type { Person, Quotation, TextKind } from "../../storage/personal-data.ts";

/** What is searched in one turn, in UTF-16 code units: a text may have millions. */
const SLICE = 64 * 1024;
/** What beside a passage decides whether it names the person. */
const CONTEXT = 4;
/** Words of a format: `input_text`, `gpt-4o`. */
const FORMAT_WORD = /^[a-z0-9_.-]{1,64}$/;

interface Options {
  kind: TextKind;
  person: Pick<Person, "quotations" | "pseudonym">;
  /** Lets the event loop turn, where it is time. */
  turn: () => Promise<void>;
}

/** Returns the text with the person's pseudonym in place of the passages that name the person. */
export async function withoutPerson(
  text: string,
  { kind, person: { quotations, pseudonym }, turn }: Options,
): Promise<{ erased: string; passages: string[] }> {
  const passages: string[] = [];
  const identifiers = quotations.filter(({ isIdentifier }) => isIdentifier);
  const erase = async (prose: string, ways: readonly Quotation[]) => {
    let rest = prose;
    for (const quotation of ways) rest = await withoutPassages(rest, quotation, { passages, pseudonym, turn });
    return rest;
  };
  if (kind === "prose") return { erased: await erase(text, quotations), passages };
  if (kind === "label") return { erased: await erase(text, identifiers), passages };
  const eraseString = (value: string) =>
    erase(value, kind === "definition" && FORMAT_WORD.test(value) ? identifiers : quotations);
  return { erased: await mapStrings(text, eraseString), passages };
}

async function withoutPassages(
  text: string,
  quotation: Quotation,
  { passages, pseudonym, turn }: { passages: string[]; pseudonym: string; turn: () => Promise<void> },
): Promise<string> {
  let [erased, end] = ["", 0];
  for (let from = 0; from < text.length; ) {
    const until = from + SLICE;
    const base = Math.max(0, from - CONTEXT);
    const slice = text.slice(base, until + quotation.maxLength + CONTEXT);
    for (let match = quotation.find(slice, from - base); match !== undefined && base + match.start < until; ) {
      passages.push(slice.slice(match.start, match.end));
      erased += text.slice(end, base + match.start) + pseudonym;
      end = base + match.end;
      match = quotation.find(slice, match.end);
    }
    from = Math.max(until, end);
    await turn();
  }
  return erased + text.slice(end);
}

/** Returns JSON with the results of `change` for its strings, keys and values. The rest stays as it is written. */
async function mapStrings(json: string, change: (value: string) => Promise<string>): Promise<string> {
  let [changed, end] = ["", 0];
  for (let start = json.indexOf('"'); start !== -1; start = json.indexOf('"', end)) {
    changed += json.slice(end, start);
    end = endOfString(json, start);
    const string = json.slice(start, end);
    const value: string = JSON.parse(string);
    const result = await change(value);
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
