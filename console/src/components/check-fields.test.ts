import { expect, test } from "vitest";
import { type CheckedField, problemOf } from "./check-fields.ts";

const VALID = {
  ...{ valid: true, valueMissing: false, typeMismatch: false },
  ...{ badInput: false, rangeUnderflow: false, rangeOverflow: false },
};
const wrong = (problem: Partial<CheckedField["validity"]>, field: Partial<CheckedField> = {}) =>
  problemOf({ type: "text", ...field, validity: { ...VALID, valid: false, ...problem } });

test("finds no problem in a valid field", () => {
  expect(problemOf({ type: "email", validity: VALID })).toBeUndefined();
});

test("says what is wrong with a field, and which value it takes", () => {
  expect(wrong({ valueMissing: true })).toBe("Fill in this field.");
  expect(wrong({ typeMismatch: true }, { type: "email" })).toMatch(/e-mail address/);
  expect(wrong({ typeMismatch: true }, { type: "url" })).toMatch(/http/);
  expect(wrong({ badInput: true }, { type: "number" })).toBe("Enter a number.");
  expect(wrong({ rangeUnderflow: true }, { type: "number", min: "1" })).toBe("The smallest value is 1.");
  expect(wrong({ rangeOverflow: true }, { type: "number", max: "9" })).toBe("The largest value is 9.");
  expect(wrong({})).toBe("This value is not valid.");
});
