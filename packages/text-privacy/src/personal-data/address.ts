/** Postal addresses by their forms in six languages: a street with a number, and what follows it on the line. */

import type { Match, Recognizer } from "../match.ts";

const ENGLISH =
  /(?<![\w.,/-])\d{1,5}[A-Za-z]?(?:-\d{1,5})? (?:(?:N|S|E|W|NE|NW|SE|SW|North|South|East|West)\.? )?(?:[A-Z][\w'’.-]{0,30} |\d{1,3}(?:st|nd|rd|th) ){1,4}(?:Alley|Avenue|Ave|Boulevard|Blvd|Bypass|Causeway|Center|Circle|Cir|Close|Common|Corner|Court|Ct|Cove|Creek|Crescent|Crest|Crossing|Drive|Dr|Estate|Expressway|Extension|Fields|Forge|Gardens|Gateway|Glen|Green|Grove|Heights|Highway|Hwy|Hill|Hollow|Junction|Knoll|Lane|Ln|Loop|Manor|Meadow|Mews|Motorway|Oval|Parade|Park|Parkway|Pkwy|Pass|Path|Pike|Place|Pl|Plaza|Point|Ridge|Rise|River|Road|Rd|Row|Square|Sq|Street|St|Terrace|Trail|Turnpike|Valley|View|Village|Vista|Walk|Way)\b\.?/g;
/** Flat, city, state and postal code after a street. */
const ENGLISH_REST =
  /^(?:,? ?(?:Apt|Apartment|Suite|Ste|Unit|Flat|Floor|#)\.? ?[A-Z]?\d{0,5}[A-Z]?)?(?:(?:, ?|\n| )(?:[A-Z][\w'’-]{1,25} ){0,2}[A-Z][\w'’-]{1,25}(?:, ?|\n| )(?:[A-Z]{2}|[A-Z][a-z]{3,14}) \d{5}(?:-\d{4})?|(?:, ?|\n)(?:[A-Z][\w'’-]{1,25} ){0,2}[A-Z][\w'’-]{1,25},? [A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2})?/;
const POSTBOX = /(?<!\w)(?:P\.? ?O\.? Box|PSC|USNS|USS|USCGC|Postfach) \d{1,6}(?:,? Box \d{1,6})?(?!\w)/gi;
const GERMAN =
  /(?<![\p{L}\d])(?:\p{Lu}[\p{L}-]{1,30}(?:stra(?:ß|ss)e|str\.|weg|platz|allee|gasse|ring|damm|ufer|chaussee|steig|markt)|(?:Am|An der|Auf dem|Im|Zum|Zur|Unter den) \p{Lu}[\p{L}-]{2,30}|\p{Lu}[\p{L}-]{1,30} (?:Stra(?:ß|ss)e|Str\.|Weg|Platz|Allee|Ring|Damm|Ufer)) \d{1,4} ?[a-hA-H]?(?![\w-])(?:, ?(?:D-)?\d{5} \p{Lu}[\p{L}-]{2,30})?/gu;
const FRENCH =
  /(?<![\p{L}\d.,/-])\d{1,4}(?: ?(?:bis|ter|quater))?,? (?:rue|avenue|av\.|boulevard|bd|place|chemin|impasse|all[ée]e|quai|cours|route|square|passage|voie)(?: (?:de|du|des|la|le|les|l['’]|d['’]))*(?: ?[\p{Lu}\d][\p{L}\d'’-]{0,30}){1,5}(?:, ?\d{5} \p{Lu}[\p{L}-]{1,30})?/gu;
const SPANISH_ITALIAN =
  /(?<![\p{L}\d])(?:Calle|C\/|Avenida|Avda\.?|Paseo|Plaza|Pza\.?|Camino|Carretera|Ronda|Via|Viale|Piazza|Corso|Largo|Vicolo|Strada|Rua|Travessa)(?: (?:de|del|della|dei|di|la|las|los|do|da|dos))*(?: [\p{Lu}\d][\p{L}\d'’.-]{0,30}){1,4},? (?:n[.º°]? ?)?\d{1,4}(?![\w-])(?:, ?\d{5} \p{Lu}[\p{L}-]{2,30})?/gu;
const DUTCH =
  /(?<![\p{L}\d])\p{Lu}[\p{L}-]{1,30}(?:straat|laan|gracht|kade|plein|weg|dijk|singel|hof) \d{1,4} ?[a-z]?(?![\w-])(?:, ?\d{4} ?[A-Z]{2}(?: \p{Lu}[\p{L}-]{2,30})?)?/gu;

const TYPE = "LOCATION";

/** Words with which an address may start, and how many it has at most until its number. */
export const ADDRESS_SPAN = {
  words: 8,
  starts:
    /^\d|(?:stra(?:ß|ss)e|str\.|weg|platz|allee|gasse|ring|damm|ufer|chaussee|steig|markt|straat|laan|gracht|kade|plein|dijk|singel|hof)$|^(?:Am|An|Auf|Im|Zum|Zur|Unter|Calle|C\/|Avenida|Avda|Paseo|Plaza|Pza|Camino|Carretera|Ronda|Via|Viale|Piazza|Corso|Largo|Vicolo|Strada|Rua|Travessa|P|PO|P\.O\.|P\.|PSC|USNS|USS|USCGC|Postfach)\.?$/u,
};

export const addressRecognizer: Recognizer = {
  types: [TYPE],
  *find(text) {
    for (const { index, 0: street } of text.matchAll(ENGLISH)) {
      const end = index + street.length;
      const rest = ENGLISH_REST.exec(text.slice(end, end + 120))?.[0] ?? "";
      yield toMatch(index, end + rest.length);
    }
    for (const pattern of [POSTBOX, GERMAN, FRENCH, SPANISH_ITALIAN, DUTCH]) {
      for (const { index, 0: value } of text.matchAll(pattern)) yield toMatch(index, index + value.length);
    }
  },
};

function toMatch(start: number, end: number): Match {
  return { type: TYPE, start, end, score: 0.6 };
}
