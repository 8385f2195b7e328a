import { expect, test } from "vitest";
import { redactApiKey } from "./api-key.ts";

test.each([
  ["sk-abcdefghijklmnopqrstuvwxyz", "sk-...wxyz"],
  ["sk-admin-abcdefghijklmnopqrstuvwxyz", "sk-admin-...wxyz"],
  ["a key of the operator's own choice", "a k...oice"],
  ["sk-0123456789abcdef", "*******************"],
  ["x", "*"],
  ["", ""],
  ["é\nééééééééééééééééééé\u001b[2J", "???...?[2J"],
])("shows %j as %j", (key, shown) => {
  expect(redactApiKey(key)).toBe(shown);
});
