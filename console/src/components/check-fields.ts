import { t } from "../i18n/translate.ts";

/** What the browser knows of a field's content. */
export interface CheckedField {
  validity: Pick<
    ValidityState,
    "valid" | "valueMissing" | "typeMismatch" | "badInput" | "rangeUnderflow" | "rangeOverflow"
  >;
  type: string;
  min?: string;
  max?: string;
}

/** Says in the language of the console what is wrong with a field; undefined for a valid one. */
export function problemOf({ validity, type, min, max }: CheckedField): string | undefined {
  if (validity.valid) return undefined;
  if (validity.valueMissing) return t("Fill in this field.");
  if (validity.badInput) return t("Enter a number.");
  if (validity.rangeUnderflow) return t("The smallest value is {{min}}.", { min: min ?? "" });
  if (validity.rangeOverflow) return t("The largest value is {{max}}.", { max: max ?? "" });
  if (type === "email") return t("Enter an e-mail address, such as name@example.com.");
  if (type === "url") return t("Enter an address that begins with http:// or https://.");
  return t("This value is not valid.");
}

/** Problems of a form's fields by their names, and the first field that has one. */
export function checkFields(form: HTMLFormElement): {
  problems: Record<string, string>;
  first: HTMLElement | undefined;
} {
  const problems: Record<string, string> = {};
  let first: HTMLElement | undefined;
  for (const element of form.elements) {
    const path = element.getAttribute("data-path");
    if (path === null || !("validity" in element)) continue;
    const problem = problemOf(element as unknown as CheckedField);
    if (problem === undefined) continue;
    problems[path] ??= problem;
    first ??= element as unknown as HTMLElement;
  }
  return { problems, first };
}
