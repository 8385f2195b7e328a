/** Catalogs of translations: their keys by language, and whether each translation fits its text. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SourceMessages } from "./source-messages.ts";

const FOLDER = join(import.meta.dirname, "../../console/src/i18n/locales");

export type Catalog = Record<string, string>;
type Texts = SourceMessages["messages"];

export function readCatalog(language: string): Catalog {
  const file = catalogFile(language);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
}

export function writeCatalog(language: string, catalog: Catalog): void {
  writeFileSync(catalogFile(language), `${JSON.stringify(catalog, null, 2)}\n`);
}

function catalogFile(language: string): string {
  return join(FOLDER, `${language}.json`);
}

/** Keys of a language's catalog → the English text: one key for each plural form that the language has. */
function catalogKeys(language: string, texts: Texts): Map<string, string> {
  const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
  const keys = [...texts].flatMap(([key, one]): [string, string][] =>
    one === undefined ? [[key, key]] : forms.map((form) => [`${key}_${form}`, form === "one" ? one : key]),
  );
  return new Map(keys.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The catalog with every key of the source, empty where it lacks a translation, and no other. */
export function updateCatalog(language: string, catalog: Catalog, texts: Texts): Catalog {
  return Object.fromEntries([...catalogKeys(language, texts).keys()].map((key) => [key, catalog[key] ?? ""]));
}

/** What is wrong with a catalog. An incomplete one may lack texts and have those of an earlier source. */
export function checkCatalog(language: string, catalog: Catalog, texts: Texts, isComplete: boolean): string[] {
  const keys = catalogKeys(language, texts);
  const stale = Object.keys(catalog).filter((key) => !keys.has(key));
  const missing = [...keys.keys()].filter((key) => !catalog[key]);
  return [
    ...(isComplete ? stale.map((key) => `has "${key}", which the console does not use`) : []),
    ...(isComplete ? missing.map((key) => `lacks "${key}"`) : []),
    ...[...keys].flatMap(([key, text]) => (catalog[key] ? mistakes(key, text, catalog[key]) : [])),
  ].map((problem) => `console/src/i18n/locales/${language}.json ${problem}`);
}

function mistakes(key: string, text: string, translation: string): string[] {
  const problems: string[] = [];
  const isPlural = text !== key || /_(zero|one|two|few|many|other)$/u.test(key);
  // A plural form may say "one" instead of the number.
  const required = placeholders(text).filter((name) => !(isPlural && name === "{{count}}"));
  const allowed = new Set([...placeholders(text), ...(isPlural ? ["{{count}}"] : [])]);
  for (const name of required) if (!translation.includes(name)) problems.push(`"${key}" lacks ${name}`);
  for (const name of placeholders(translation)) if (!allowed.has(name)) problems.push(`"${key}" has ${name}`);
  if (String(tags(text)) !== String(tags(translation))) problems.push(`"${key}" has other tags than the English text`);
  if (/^\s|\s$/u.test(translation)) problems.push(`"${key}" begins or ends with a space`);
  return problems;
}

function placeholders(text: string): string[] {
  return text.match(/\{\{[^}]*\}\}/gu) ?? [];
}

function tags(text: string): string[] {
  return (text.match(/<\/?\w+>/gu) ?? []).sort();
}
