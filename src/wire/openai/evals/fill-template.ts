/** Templates of evals: `{{ item.question }}`, `{{ sample.output_text }}`. */

import { invalidRequest } from "../../../kernel/faults.ts";

const REFERENCE = /\{\{\s*((?:item|sample)(?:\.[\w-]+)+)\s*\}\}/g;

export interface TemplateValues {
  item: unknown;
  sample?: unknown;
}

/** Templates may name the longest value of a row thousands of times. */
const MAX_CHARACTERS = 1_000_000;

/** Replaces the references of one template as `templateFiller` does. */
export function fillTemplate(template: string, values: TemplateValues): string {
  return templateFiller(values)(template);
}

/**
 * Returns what replaces references by values in the templates of one request; values other than texts become JSON. It
 * throws a Fault for a value that the row lacks, and for values of more than a million characters in all.
 */
export function templateFiller(values: TemplateValues): (template: string) => string {
  let characters = 0;
  return (template) =>
    template.replaceAll(REFERENCE, (_, path: string) => {
      const value = valueAt(path, values);
      const text = typeof value === "string" ? value : JSON.stringify(value);
      characters += text.length;
      if (characters > MAX_CHARACTERS) throw tooLong();
      return text;
    });
}

function tooLong(): Error {
  const message = `The values of a request's templates have more than ${MAX_CHARACTERS} characters in all. Name fewer of them.`;
  return invalidRequest(message, undefined, "value_too_long");
}

/** Returns the value of a path such as `item.question`. Throws a Fault when the row lacks it. */
export function valueAt(path: string, values: TemplateValues): unknown {
  let value: unknown = values;
  for (const name of path.split(".")) {
    const isObject = typeof value === "object" && value !== null;
    value = isObject && Object.hasOwn(value as object, name) ? (value as Record<string, unknown>)[name] : undefined;
  }
  if (value === undefined)
    throw invalidRequest(`The row has no value for '${path.slice(0, 200)}'.`, undefined, "missing_value");
  return value;
}
