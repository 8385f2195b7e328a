import { expect, test } from "vitest";
import { MissingFeatures, missingOperation } from "./missing-features.ts";
import { UpstreamError } from "./upstream-error.ts";

const MINUTE_MS = 60_000;

test("forgets after five minutes, so that an upgraded upstream is asked again", () => {
  let now = 0;
  const missing = new MissingFeatures(() => now);
  missing.add("speakers", "m");
  now = 5 * MINUTE_MS - 1;
  expect(missing.has("speakers", "m")).toBe(true);
  expect([missing.has("speakers", "other"), missing.has("word-times", "m")]).toEqual([false, false]);
  now += 1;
  expect(missing.has("speakers", "m")).toBe(false);
});

test("bounds the models that callers name under a wildcard, and evicts the oldest", () => {
  const missing = new MissingFeatures();
  for (let index = 0; index <= 1000; index += 1) missing.add("completions", `m${index}`);
  expect([missing.has("completions", "m0"), missing.has("completions", "m1")]).toEqual([false, true]);
});

const error = (message: string, code?: string) => new UpstreamError("answered with an error", { message, code });

test.each([
  ["completions", 404, undefined, "completions"],
  ["completions", 404, error("File Not Found", "404"), "completions"],
  ["audio/translations", 405, error("Method Not Allowed"), "audio/translations"],
  ["images/edits", 501, undefined, "images/edits"],
  ["completions", 404, error("The model `m` does not exist."), undefined],
  ["completions", 404, error("Gone.", "model_not_found"), undefined],
  ["completions", 500, undefined, undefined],
  ["chat/completions", 404, undefined, undefined],
  ["toString", 404, undefined, undefined],
])("reads of %s with status %i and error %o the missing feature %s", (operation, status, answer, feature) => {
  expect(missingOperation(operation, status, answer)).toBe(feature);
});
