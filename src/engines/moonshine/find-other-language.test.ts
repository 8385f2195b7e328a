import { expect, test } from "vitest";
import { findOtherLanguage } from "./find-other-language.ts";

const detected = (probabilities: Record<string, number>) =>
  Object.entries(probabilities)
    .map(([language, probability]) => ({ language, probability }))
    .sort((a, b) => b.probability - a.probability);

test.each([
  ["English", { en: 0.9, de: 0.05 }, false, undefined],
  ["French", { fr: 0.95, en: 0.01 }, false, { language: "fr", isCertain: true }],
  ["short French", { fr: 0.95, en: 0.01 }, true, { language: "fr", isCertain: true }],
  ["short speech that may be French", { fr: 0.7, en: 0.1 }, true, undefined],
  ["English in noise that resembles Chinese", { zh: 0.71, en: 0.09 }, false, { language: "zh", isCertain: false }],
  ["what only seems to be Latin", { la: 0.7, en: 0.15 }, false, { language: "la", isCertain: false }],
  ["short speech in Latin", { la: 0.95, en: 0.01 }, true, { language: "la", isCertain: false }],
  ["speech that may be Spanish or English", { es: 0.76, en: 0.19 }, false, { language: "es", isCertain: true }],
  ["speech between German and English", { de: 0.3, nl: 0.25, en: 0.18 }, false, { language: "de", isCertain: false }],
])("judges %s", (_, probabilities, isShort, expected) => {
  expect(findOtherLanguage(detected(probabilities), isShort)).toEqual(expected);
});
