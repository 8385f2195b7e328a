/** Texts of the console. The English sentence is the key of its translations; CONTRIBUTING.md says how to write one. */

import { formatNumber } from "./format-number.ts";
import { SOURCE_LANGUAGE } from "./language.ts";

export type Placeholder<Text extends string> = Text extends `${string}{{${infer Name}}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never;
/** Numbers are formatted by locale. A port, year or status is a text. */
type Value = string | number;
type Values = Readonly<Record<string, Value>>;
interface Context {
  /** Tells equal English texts with different meanings apart, such as `verb` and `noun` of "Open". */
  context?: string;
}
type Arguments<Names extends string> = [Names] extends [never]
  ? [values?: Context]
  : [values: Record<Names, Value> & Context];
declare const MESSAGE: unique symbol;
/** An English text of a constant. No string to the compiler, which so finds where nothing translates it. */
export interface Message {
  [MESSAGE]: true;
}
/** A literal, because `npm run messages` reads the texts from the source. */
type Literal<Text extends string> = string extends Text ? never : Text;
/** Placeholders without those that `plural` fills. */
type Rest<Text extends string> = Exclude<Placeholder<Text>, "count">;

/** Between the text and the context of a constant; no text has it. */
const CONTEXT_SEPARATOR = "\u0004";
const ENGLISH = new Intl.PluralRules(SOURCE_LANGUAGE);

/** A language's texts. */
export interface Translations {
  /** Translations by key; an absent or empty one is English. */
  catalog: Readonly<Record<string, string>>;
  plurals: Intl.PluralRules;
  /** Changes each text, as pseudo-localization does. */
  transform?: (text: string) => string;
}

let current: Translations = { catalog: {}, plurals: ENGLISH };

export function setTranslations(translations: Translations): void {
  current = translations;
}

/** The text in the language of the console. Never called while a module loads: the language may change afterwards. */
export function t(message: Message): string;
export function t<const Text extends string>(text: Literal<Text>, ...values: Arguments<Placeholder<Text>>): string;
export function t(text: string | Message, values: Values & Context = {}): string {
  const [english = "", context] = (text as string).split(CONTEXT_SEPARATOR);
  return fillPlaceholders(template(english, english + suffix(context ?? values.context)), values);
}

/** Marks a text of a constant for translation; `t` translates it where it is shown. */
export function msg<const Text extends string>(text: Literal<Text>, { context }: Context = {}): Message {
  return (context === undefined ? text : text + CONTEXT_SEPARATOR + context) as unknown as Message;
}

/** Choices of a list with their labels translated. */
export function translateLabels<Choice extends { label: Message }>(
  choices: readonly Choice[],
): (Omit<Choice, "label"> & { label: string })[] {
  return choices.map((choice) => ({ ...choice, label: t(choice.label) }));
}

/** The form of a text for `count`, which both forms may contain as `{{count}}`. */
export function plural<const One extends string, const Other extends string>(
  count: number,
  one: Literal<One>,
  other: Literal<Other>,
  ...[values]: Arguments<Rest<One> | Rest<Other>>
): string {
  const { context, ...rest } = (values ?? {}) as Values & Context;
  const key = other + suffix(context);
  const english = ENGLISH.select(count) === "one" ? one : other;
  const text = template(english, `${key}_${current.plurals.select(count)}`, `${key}_other`);
  return fillPlaceholders(text, { ...rest, count });
}

/** The translation by the first key that has one, else the English text; with its placeholders. */
export function template(english: string, ...keys: string[]): string {
  const key = keys.find((each) => current.catalog[each]);
  const text = (key !== undefined && current.catalog[key]) || english;
  return current.transform?.(text) ?? text;
}

/** Fills the placeholders of a text. A value with braces stays as it is. */
export function fillPlaceholders(text: string, values: Values): string {
  return text.replace(/\{\{(\w+)\}\}/gu, (placeholder, name: string) => {
    const value = values[name];
    return typeof value === "number" ? formatNumber(value) : (value ?? placeholder);
  });
}

function suffix(context: string | undefined): string {
  return context === undefined ? "" : `_${context}`;
}
