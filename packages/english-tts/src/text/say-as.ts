import { sayDigits, sayNumber, sayOrdinal } from "../phonemes/spoken-numbers.ts";
import { invalidSsml } from "../tts-error.ts";
import { conventionsOf } from "./text-conventions.ts";

type Format = (content: string, language: string) => string | undefined;

/** Functions from content to spoken words, by `interpret-as`; they return undefined for content that does not fit. */
const ENGLISH: Readonly<Record<string, Format>> = {
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

/** For other languages: digits stay, for their phonemizers to read. */
const DIGITS: Readonly<Record<keyof typeof ENGLISH, Format>> = {
  characters: (content) => separated(content, /[\p{L}\p{N}]/gu)?.toUpperCase(),
  "spell-out": (content) => separated(content, /[\p{L}\p{N}]/gu)?.toUpperCase(),
  digits: (content) => separated(content, /\d/gu),
  telephone: (content) => separated(content, /\d/gu),
  cardinal: (content) => (/^\d+(?:[.,]\d+)?$/.test(content) ? content : undefined),
  number: (content) => (/^\d+(?:[.,]\d+)?$/.test(content) ? content : undefined),
  ordinal: (content, language) => (/^\d+$/.test(content) ? conventionsOf(language).ordinal(content) : undefined),
};

/** Renders the content of SSML's `<say-as>`. Throws a TtsError `invalid_ssml` for an unknown format or unfit content. */
export function sayAs(content: string, interpretAs: string, language = "en"): string {
  const formats = language === "en" ? ENGLISH : DIGITS;
  const format = Object.hasOwn(formats, interpretAs) ? formats[interpretAs] : undefined;
  const words = format?.(content.trim().replaceAll(/(?<=\d),(?=\d{3})/g, ""), language);
  if (words !== undefined) return words;
  const reason =
    format === undefined
      ? `interpret-as="${interpretAs}" is not one of ${Object.keys(formats).join(", ")}`
      : `"${content.slice(0, 50)}" cannot be read as ${interpretAs}`;
  throw invalidSsml(reason);
}

function separated(content: string, characters: RegExp): string | undefined {
  return content.match(characters)?.join(", ");
}

/** Commas keep the letters apart: "A, B, C". */
function spell(content: string): string | undefined {
  const characters = [...content].filter((character) => /[\p{L}\p{N}]/u.test(character));
  if (characters.length === 0) return undefined;
  return characters
    .map((character) => (/\d/.test(character) ? sayDigits(character) : character.toUpperCase()))
    .join(", ");
}
