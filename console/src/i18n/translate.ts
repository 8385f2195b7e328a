/** Texts of the console. The English sentence is the key of its translations; CONTRIBUTING.md says how to write one. */

import { createInstance, type FormatterModule } from "i18next";
import { formatNumber } from "./format-number.ts";
import { SOURCE_LANGUAGE } from "./language.ts";

export type Placeholder<Text extends string> = Text extends `${string}{{${infer Name}}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never;
/** Numbers are formatted by locale. A port, year or status is a text. */
type Value = string | number;
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

const formatter: FormatterModule = {
  type: "formatter",
  init() {},
  add() {},
  addCached() {},
  format: (value) => (typeof value === "number" ? formatNumber(value) : value),
};

export const i18n = createInstance();
void i18n.use(formatter).init({
  lng: SOURCE_LANGUAGE,
  fallbackLng: false,
  resources: {},
  // Synchronous: components and constants call `t` right after the import.
  initAsync: false,
  keySeparator: false,
  nsSeparator: false,
  returnEmptyString: false,
  // React escapes.
  interpolation: { escapeValue: false, alwaysFormat: true },
});

/** Between the text and the context of a constant; no text has it. */
const CONTEXT_SEPARATOR = "\u0004";
/** i18next's types would look each key up in a table of types. */
const translate = i18n.t as unknown as (text: string | undefined, values?: object) => string;

/** The text in the language of the console. Never called while a module loads: the language may change afterwards. */
export function t(message: Message): string;
export function t<const Text extends string>(text: Literal<Text>, ...values: Arguments<Placeholder<Text>>): string;
export function t(text: string | Message, values?: object): string {
  const [key, context] = (text as string).split(CONTEXT_SEPARATOR);
  return translate(key, context === undefined ? values : { context });
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
  const forms = { defaultValue_one: one, defaultValue_other: other };
  return translate(other, { ...values, ...forms, count });
}

/** The translated text with its placeholders, for `Trans`. */
export function translatedTemplate(text: string): string {
  return translate(text, { skipInterpolation: true });
}

/** Fills the placeholders of a part of a translated text. */
export function fillPlaceholders(template: string, values: Record<string, Value>): string {
  return i18n.services.interpolator.interpolate(template, values, i18n.language, {});
}
