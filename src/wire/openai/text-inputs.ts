import { z } from "zod";
import { invalidRequest } from "../../kernel/faults.ts";

const ids = z.array(z.int().min(0)).min(1);

/** Describes what `readTextInputs` accepts. */
export const TextInputs = z
  .union([z.string(), ids, z.array(z.string()).min(1), z.array(ids).min(1)])
  .describe("A text, texts, token IDs or arrays of token IDs.");

/** A text, or token IDs. */
export type TextInput = string | readonly number[];

const MAX_TOKEN_ID = 2 ** 31 - 1;

/**
 * Reads a field that is a text, texts, token IDs or arrays of token IDs. Not a schema, which would report each of a
 * million IDs. Throws a Fault.
 */
export function readTextInputs(value: unknown, field: string, maxEntries: number): readonly TextInput[] {
  const reader = new InputReader(field);
  if (value === undefined || value === null) {
    throw invalidRequest(`Missing required parameter: '${field}'.`, field, "missing_required_parameter");
  }
  if (typeof value === "string") return [value];
  if (!Array.isArray(value)) throw reader.wrongType("it must be a string or an array", field);
  if (value.length === 0) throw reader.emptyArray(field);
  if (typeof value[0] === "number") return [reader.toIds(value, field)];
  if (value.length > maxEntries) {
    const message = `Invalid value for '${field}': it may have at most ${maxEntries} entries, not ${value.length}. Send them in parts.`;
    throw invalidRequest(message, field, "array_above_max_length");
  }
  const areTexts = typeof value[0] === "string";
  return value.map((each: unknown, index) => {
    const path = `${field}[${index}]`;
    if (areTexts && typeof each === "string") return each;
    if (!areTexts && Array.isArray(each)) return reader.toIds(each, path);
    throw reader.wrongType("entries must be strings only or arrays of token IDs only", path);
  });
}

/** Reads the parts of one field. OpenAI's clients know it as one, so only messages name the path within it. */
class InputReader {
  readonly #field: string;

  constructor(field: string) {
    this.#field = field;
  }

  toIds(values: readonly unknown[], path: string): readonly number[] {
    if (values.length === 0) throw this.emptyArray(path);
    const wrong = values.findIndex(
      (id) => !(Number.isInteger(id) && (id as number) >= 0 && (id as number) <= MAX_TOKEN_ID),
    );
    if (wrong === -1) return values as number[];
    throw this.wrongType(`it must be a token ID from 0 to ${MAX_TOKEN_ID}`, `${path}[${wrong}]`);
  }

  wrongType(reason: string, path: string): Error {
    return invalidRequest(`Wrong type for '${path}': ${reason}.`, this.#field, "invalid_type");
  }

  emptyArray(path: string): Error {
    const message = `Invalid value for '${path}': it must have at least one entry.`;
    return invalidRequest(message, this.#field, "empty_array");
  }
}
