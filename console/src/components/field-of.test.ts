import { expect, test } from "vitest";
import { ApiError } from "../api/request.ts";
import { fieldOf } from "./field-of.ts";

const FIELDS = { threshold_amount: "dollars", "unsupported_language.model": "languageModel", model_ids: "models" };

test.each([
  ["threshold_amount", "dollars"],
  ["unsupported_language.model", "languageModel"],
  ["unsupported_language.action", undefined],
  ["model_ids[3]", "models"],
  [null, undefined],
])("finds the field of the parameter %s", (param, field) => {
  expect(fieldOf(new ApiError(400, "It is wrong.", "invalid_value", param), FIELDS)).toBe(field);
});

test("finds no field for a failure of the console", () => {
  expect(fieldOf(new Error("Down."), FIELDS)).toBeUndefined();
});
