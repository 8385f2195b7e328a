/** The recognizers of personal data, by entity. */

import { type Match, type Recognizer, resolveOverlaps } from "../match.ts";
import { findInSpellings } from "../spellings.ts";
import { addressRecognizer } from "./address.ts";
import { emailRecognizer, ipAddressRecognizer, macAddressRecognizer, urlRecognizer } from "./contact.ts";
import { cardRecognizer, cryptoRecognizer, ibanRecognizer } from "./finance.ts";
import { nationalNumberRecognizer } from "./national-numbers/national-numbers.ts";
import { DEFAULT_REGIONS, phoneRecognizer } from "./phone.ts";

const RECOGNIZERS: readonly Recognizer[] = [
  emailRecognizer,
  ibanRecognizer,
  cardRecognizer,
  cryptoRecognizer,
  nationalNumberRecognizer,
  ipAddressRecognizer,
  macAddressRecognizer,
  addressRecognizer,
  urlRecognizer,
];

/** Entities that are recognized here, named as in Presidio where it has them. */
export const ENTITIES: readonly string[] = [...RECOGNIZERS.flatMap(({ types }) => types), "PHONE_NUMBER"].sort();

export const DEFAULT_ENTITIES: readonly string[] = ENTITIES.filter((type) => type !== "URL");

export interface PersonalDataOptions {
  /** Default: `DEFAULT_ENTITIES`. */
  entities?: readonly string[] | undefined;
  /** Regions whose national phone numbers are recognized, such as `US`. */
  regions?: readonly string[] | undefined;
}

/** Finds what is in a short text; see `findInSlices` for long ones. */
export type Finder = (text: string) => Match[];

/** Throws a RangeError for an unknown entity or region. */
export function personalDataFinder({
  entities = DEFAULT_ENTITIES,
  regions = DEFAULT_REGIONS,
}: PersonalDataOptions = {}): Finder {
  const unknown = entities.find((type) => !ENTITIES.includes(type));
  if (unknown !== undefined) throw new RangeError(`${unknown} is not an entity: ${ENTITIES.join(", ")}`);
  const requested = new Set(entities);
  const recognizers = [...RECOGNIZERS, phoneRecognizer(regions)].filter(({ types }) =>
    types.some((type) => requested.has(type)),
  );
  const findsNumbers = recognizers.filter(
    (recognizer) => recognizer !== emailRecognizer && recognizer !== urlRecognizer,
  );
  const find: Finder = (original) => {
    // Escapes of JSON and of source code, at the same offsets, would continue the words around them.
    const text = original.includes("\\") ? original.replace(/\\[nrt,]/g, "  ") : original;
    // Nearly all entities have a digit, and many texts have none.
    const hasDigits = /\d/.test(text);
    const active = hasDigits
      ? recognizers
      : recognizers.filter(
          (recognizer) =>
            !findsNumbers.includes(recognizer) || (recognizer === ipAddressRecognizer && text.includes("::")),
        );
    const matches = active.flatMap((recognizer) => [...recognizer.find(text)]);
    return resolveOverlaps(matches.filter(({ type }) => requested.has(type)));
  };
  return findInSpellings(find, requested.has("EMAIL_ADDRESS") ? emailRecognizer.find : undefined);
}
