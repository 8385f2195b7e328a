import { expect, test } from "vitest";
import { type Catalog, checkCatalog, updateCatalog } from "./catalogs.ts";
import { findMessages } from "./find-messages.ts";
import { findUntranslated } from "./find-untranslated.ts";
import { parseSource } from "./syntax-tree.ts";

const untranslated = (source: string) => findUntranslated("page.tsx", source).map(({ text }) => text.trim());

test.each([
  ["JSX", "const A = () => <p>Save</p>;", ["Save"]],
  ["JSX beside a value", "const A = () => <p>{n} of {m}</p>;", ["of"]],
  ["a conditional child", 'const A = () => <p>{isOn ? "on" : off}</p>;', ["on"]],
  ["an attribute", 'const A = () => <Button title="save" className="wide button" />;', ["save"]],
  ["a property", 'const columns = [{ id: "name", label: "name" }];', ["name"]],
  ["a template", "const text = `Delete $" + "{name}?`;", ["Delete …?"]],
  ["a constant", 'const KINDS = { a: "Never" };', ["Never"]],
  ["an error", 'throw new Error("It must be in the future.");', ["It must be in the future."]],
])("finds an English text in %s", (_place, source, texts) => {
  expect(untranslated(source)).toEqual(texts);
});

test.each([
  'const A = () => <p>{t("Save")}</p>;',
  'const A = () => <Trans text="Run <code>npm start</code>." tags={{ code: <Code /> }} />;',
  'const label = msg("Save");',
  'if (event.key === "Enter") send();',
  "const path = `/v1/projects/$" + "{id}`;",
  "const A = () => <Code>npm start now</Code>;",
  "// untranslated: a name of the API\nconst A = 'Content of it';",
  'const A = () => <Button variant="default" size="xs" />;',
])("accepts %s", (source) => {
  expect(untranslated(source)).toEqual([]);
});

test("reads texts with their plural forms and contexts, and refuses what it cannot read", () => {
  const source = `
    const LABEL = msg("Models");
    const FROZEN = t("Frozen");
    const A = () => <Trans text="Run <code>x</code>" />;
    function count(n: number) {
      return plural(n, "{{count}} key", "{{count}} keys") + t("Open", { context: "verb" }) + t(LABEL) + msg(LABEL);
    }`;
  const { messages, problems } = findMessages(parseSource("page.tsx", source).program);
  expect(messages.map(({ key, one }) => [key, one])).toEqual([
    ["Models", undefined],
    ["Frozen", undefined],
    ["Run <code>x</code>", undefined],
    ["{{count}} keys", "{{count}} key"],
    ["Open_verb", undefined],
  ]);
  expect(problems.map(({ problem }) => problem)).toEqual([
    "`t` runs while the module loads; use `msg` or a function",
    "`msg` needs a literal",
  ]);
});

const TEXTS = new Map([
  ["Delete {{name}}", undefined],
  ["Run <code>x</code>", undefined],
  ["{{count}} keys of {{name}}", "One key of {{name}}"],
]);

test("lists the plural forms of each language, keeps translations and drops stale ones", () => {
  expect(updateCatalog("ja", { "Delete {{name}}": "{{name}}を削除", Old: "x" }, TEXTS)).toEqual({
    "Delete {{name}}": "{{name}}を削除",
    "Run <code>x</code>": "",
    "{{count}} keys of {{name}}_other": "",
  });
  expect(Object.keys(updateCatalog("fr", {}, TEXTS))).toEqual([
    "Delete {{name}}",
    "Run <code>x</code>",
    "{{count}} keys of {{name}}_many",
    "{{count}} keys of {{name}}_one",
    "{{count}} keys of {{name}}_other",
  ]);
});

test("accepts a complete catalog whose translations have the placeholders and tags of the text", () => {
  const catalog: Catalog = {
    "Delete {{name}}": "{{name}} löschen",
    "Run <code>x</code>": "<code>x</code> ausführen",
    "{{count}} keys of {{name}}_one": "{{count}} Schlüssel von {{name}}",
    "{{count}} keys of {{name}}_other": "{{count}} Schlüssel von {{name}}",
  };
  expect(checkCatalog("de", catalog, TEXTS, true)).toEqual([]);
});

test("names what is wrong with a translation", () => {
  const catalog: Catalog = {
    "Delete {{name}}": "{{nom}} löschen ",
    "Run <code>x</code>": "x ausführen",
    "{{count}} keys of {{name}}_one": "",
    "{{count}} keys of {{name}}_other": "Schlüssel",
    Old: "Alt",
  };
  const problems = checkCatalog("de", catalog, TEXTS, true).map((each) => each.replace(/^\S+ /u, ""));
  expect(problems).toEqual([
    'has "Old", which the console does not use',
    'lacks "{{count}} keys of {{name}}_one"',
    '"Delete {{name}}" lacks {{name}}',
    '"Delete {{name}}" has {{nom}}',
    '"Delete {{name}}" begins or ends with a space',
    '"Run <code>x</code>" has other tags than the English text',
    '"{{count}} keys of {{name}}_other" lacks {{name}}',
  ]);
});
