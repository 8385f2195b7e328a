/** Templates of evals: `{{ item.question }}`, `{{ sample.output_text }}`. */

import { invalidRequest } from "../../../kernel/faults.ts";

const REFERENCE = /\{\{\s*((?:item|sample)(?:\.[\w-]+)+)\s*\}\}/g;

export interface TemplateValues {
  item: unknown;
  sample?: unknown;
}

/** Replaces references by values; what is no text becomes JSON. Throws a Fault for a value that the row lacks. */
export function fillTemplate(template: string, values: TemplateValues): string {
  return template.replaceAll(REFERENCE, (_, path: string) => {
    const value = valueAt(path, values);
    return typeof value === "string" ? value : JSON.stringify(value);
  });
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
