import { sayDigits, sayNumber, sayOrdinal } from "../phonemes/spoken-numbers.ts";
import { invalidSsml } from "../tts-error.ts";

/** Functions from content to spoken words, by `interpret-as`; they return undefined for content that does not fit. */
const FORMATS: Readonly<Record<string, (content: string) => string | undefined>> = {
  characters: spell,
  "spell-out": spell,
  digits: (content) => (/\d/.test(content) ? sayDigits(content.replaceAll(/\D/g, "")) : undefined),
  telephone: (content) =>
    content
      .match(/\d+/g)
      ?.map((group) => sayDigits(group))
      .join(", "),
  cardinal: (content) => (/^\d+(?:\.\d+)?$/.test(content) ? sayNumber(content) : undefined),
  number: (content) => (/^\d+(?:\.\d+)?$/.test(content) ? sayNumber(content) : undefined),
  ordinal: (content) => (/^\d+$/.test(content) ? sayOrdinal(content) : undefined),
};

/** Renders the content of SSML's `<say-as>`. Throws a TtsError `invalid_ssml` for an unknown format or unfit content. */
export function sayAs(content: string, interpretAs: string): string {
  const format = Object.hasOwn(FORMATS, interpretAs) ? FORMATS[interpretAs] : undefined;
  const words = format?.(content.trim().replaceAll(/(?<=\d),(?=\d{3})/g, ""));
  if (words !== undefined) return words;
  const reason =
    format === undefined
      ? `interpret-as="${interpretAs}" is not one of ${Object.keys(FORMATS).join(", ")}`
      : `"${content.slice(0, 50)}" cannot be read as ${interpretAs}`;
  throw invalidSsml(reason);
}

/** Commas keep the letters apart: "A, B, C". */
function spell(content: string): string | undefined {
  const characters = [...content].filter((character) => /[\p{L}\p{N}]/u.test(character));
  if (characters.length === 0) return undefined;
  return characters
    .map((character) => (/\d/.test(character) ? sayDigits(character) : character.toUpperCase()))
    .join(", ");
}
