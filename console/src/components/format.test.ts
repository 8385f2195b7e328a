import { afterEach, expect, test } from "vitest";
import { setCurrentLanguage } from "../i18n/language.ts";
import { formatBytes, formatFixed, formatPerMillion, formatPrice, formatUntil } from "./format.ts";

afterEach(() => setCurrentLanguage("en"));

test.each([
  [-5, "this minute"],
  [1800, "in 30 minutes"],
  [7200, "in 2 hours"],
  [30 * 86_400, "in 30 days"],
])("says when a time in %d s is", (seconds, text) => {
  expect(formatUntil(1000 + seconds, 1000)).toBe(text);
});

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "1.0 kB"],
  [2_497_281_120, "2.5 GB"],
  [250_000_000, "250 MB"],
])("formats %d bytes in the units of the models' descriptions", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test("formats prices without rounding, by the language", () => {
  expect(["0.015", "0.0002", "12"].map((price) => formatPrice(price))).toEqual(["$0.015", "$0.0002", "$12"]);
  expect(formatPerMillion("0.00000015", undefined)).toBe("$0.15");
  expect(formatPerMillion("0.000003", "EUR")).toBe("€3");
  setCurrentLanguage("de");
  expect(formatPrice("0.015")).toBe("0,015\u00A0$");
  expect(formatPerMillion("0.0000025", undefined)).toBe("2,50\u00A0$");
  expect(formatPerMillion("0.0000025", "JPY")).toBe("2,5\u00A0¥");
  expect(formatFixed(0.5, 2)).toBe("0,50");
});
