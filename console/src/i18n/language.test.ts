import { expect, test } from "vitest";
import { preferredLanguage, toLocale } from "./language.ts";

test("prefers the first complete language of the browser, else English", () => {
  expect(preferredLanguage([])).toBe("en");
  expect(preferredLanguage(["xx-YY", "en-GB", "de"])).toBe("en");
  expect(preferredLanguage(["xx-YY", "pt-PT", "de"])).toBe("pt");
  expect(preferredLanguage(["zh-Hant-TW"])).toBe("zh");
});

test("formats by the browser's variant of the language", () => {
  expect(toLocale("de", ["en-US", "de-CH", "de"])).toBe("de-CH");
  expect(toLocale("ja", ["en-US"])).toBe("ja");
  expect(toLocale("en-XA", ["de", "en-GB"])).toBe("en-GB");
});
