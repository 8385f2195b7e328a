import { cloneElement, createElement, Fragment, type ReactElement, type ReactNode } from "react";
import { fillPlaceholders, type Placeholder, template } from "./translate.ts";

type Tag<Text extends string> = Text extends `${string}</${infer Name}>${infer Rest}` ? Name | Tag<Rest> : never;
type Maybe<Key extends string, Names extends string, Value> = [Names] extends [never]
  ? { [name in Key]?: undefined }
  : { [name in Key]: Record<Names, Value> };

type TransProps<Text extends string> = {
  /** English text, a literal: `Run <code>npm start</code> in {{folder}}.` Tags are not nested. */
  text: Text;
} & Maybe<"tags", Tag<Text>, ReactElement> &
  Maybe<"values", Placeholder<Text>, string | number>;

const TAGGED = /<(\w+)>(.*?)<\/\1>/su;

/** A translated sentence with inline elements: the tags of the text become those of `tags`. */
export function Trans<const Text extends string>({ text, tags, values }: TransProps<Text>): ReactNode {
  const elements = (tags ?? {}) as Record<string, ReactElement>;
  const fill = (part: string) => fillPlaceholders(part, (values ?? {}) as Record<string, string | number>);
  // Values are filled in afterwards: one that contains a tag stays a text.
  const parts = template(text, text).split(TAGGED);
  // The pattern's groups stand between two texts: the name of a tag and its content.
  const nodes = parts.map((part, index) => {
    if (index % 3 === 1) return null;
    const name = index % 3 === 2 ? parts[index - 1] : undefined;
    const element = name === undefined ? undefined : elements[name];
    return element === undefined ? fill(part) : cloneElement(element, undefined, fill(part));
  });
  // Children that are arguments need no keys.
  return createElement(Fragment, null, ...nodes);
}
