import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { afterEach, expect, test } from "vitest";
import { setCurrentLanguage } from "./language.ts";
import { Trans } from "./trans.tsx";
import { msg, plural, setTranslations, t } from "./translate.ts";

const GERMAN = {
  "Delete {{name}}": "{{name}} löschen",
  "{{count}} requests_one": "{{count}} Anfrage",
  "{{count}} requests_other": "{{count}} Anfragen",
  Open_verb: "Öffnen",
  Models: "Modelle",
  Score_verb: "Bewerten",
  "Run <code>{{command}}</code> in <b>{{folder}}</b>.": "In <b>{{folder}}</b> <code>{{command}}</code> ausführen.",
};

function speak(language: string): void {
  setCurrentLanguage(language);
  setTranslations({ catalog: language === "de" ? GERMAN : {}, plurals: new Intl.PluralRules(language) });
}

afterEach(() => speak("en"));

test("shows the English text, with numbers by locale and values as they are", () => {
  expect(t("Delete {{name}}", { name: "<b>$t(x){{name}}</b>" })).toBe("Delete <b>$t(x){{name}}</b>");
  expect(t("{{hours}} h", { hours: 1234 })).toBe("1,234 h");
  expect(t("Open", { context: "verb" })).toBe("Open");
  expect([0, 1, 1234].map((count) => plural(count, "{{count}} request", "{{count}} requests"))).toEqual([
    "0 requests",
    "1 request",
    "1,234 requests",
  ]);
});

test("translates texts, plurals, contexts and constants that were made before the language changed", () => {
  const label = msg("Models");
  speak("de");
  expect(t("Delete {{name}}", { name: "A" })).toBe("A löschen");
  expect(t("Open", { context: "verb" })).toBe("Öffnen");
  expect(t(label)).toBe("Modelle");
  expect(t(msg("Score", { context: "verb" }))).toBe("Bewerten");
  expect([1, 1234].map((count) => plural(count, "{{count}} request", "{{count}} requests"))).toEqual([
    "1 Anfrage",
    "1.234 Anfragen",
  ]);
});

test("shows a text without a translation in English", () => {
  speak("de");
  expect(t("Close")).toBe("Close");
  expect(t(msg("Mask", { context: "verb" }))).toBe("Mask");
  expect(plural(1, "{{count}} key", "{{count}} keys")).toBe("1 key");
  expect(plural(2, "{{count}} key", "{{count}} keys")).toBe("2 keys");
});

test("puts elements where the translation has them, and never makes one from a value", () => {
  const sentence = () =>
    renderToStaticMarkup(
      createElement(Trans<"Run <code>{{command}}</code> in <b>{{folder}}</b>.">, {
        text: "Run <code>{{command}}</code> in <b>{{folder}}</b>.",
        tags: { code: createElement("code"), b: createElement("strong") },
        values: { command: "<b>npm</b>", folder: "{{command}}" },
      }),
    );
  const code = "<code>&lt;b&gt;npm&lt;/b&gt;</code>";
  expect(sentence()).toBe(`Run ${code} in <strong>{{command}}</strong>.`);
  speak("de");
  expect(sentence()).toBe(`In <strong>{{command}}</strong> ${code} ausführen.`);
});
