import { toCardinal, toOrdinal } from "n2words/es-ES";
import type { ReadingRules } from "../reading/reading-rules.ts";

/** Words after which no noun follows, so that a number stands alone. */
const NO_NOUN = /^(?:$|[aeoyu]|al|con|de|del|el|en|es|la|más|menos|o|para|por|punto|que|y|como|coma)$/u;
const FEMININE = /(?:[^mt]as?|ción|ciones|sión|siones|dad|dades|veces|partes|calles|noches|tardes)$/u;
const MASCULINE = /(?:días?|mapas?|problemas?|sistemas?|programas?|idiomas?|temas?|kilogramos)$/u;

function isFeminine(noun: string): boolean {
  return FEMININE.test(noun) && !MASCULINE.test(noun);
}

export const SPANISH_READING: ReadingRules = {
  locale: "es",
  decimalMark: ",",
  cardinal(value, next) {
    const noun = next.toLowerCase();
    const hasNoun = !NO_NOUN.test(noun) && !value.includes(".");
    const gender = hasNoun && isFeminine(noun) ? "feminine" : "masculine";
    const words = toCardinal(value, { gender })
      .replace("punto", "coma")
      .replace(/dieciseis/u, "dieciséis");
    return hasNoun ? words.replace(/veintiuno$/u, "veintiún").replace(/uno$/u, "un") : words;
  },
  ordinal(value, mark) {
    const words = toOrdinal(value, { gender: mark.startsWith("a") || mark === "ª" ? "feminine" : "masculine" });
    return mark === "er" ? words.replace(/(primer|tercer)o$/u, "$1") : words;
  },
  ordinalMarks: "º|°(?!C|F)|ª|er|ro|ra|do|da|to|ta|mo|ma|vo|va|no|na(?=\\s)",
  clock: (hours, minutes) => `${hours === 1 ? "una" : hours}${minutes === 0 ? "" : ` y ${minutes}`}`,
  centsWord: "con ",
  ofWord: "de ",
  rangeWord: "a",
  minusWord: "menos",
  pointWord: "punto",
  symbols: {
    "&": "y",
    "@": "arroba",
    "+": "más",
    "=": "igual a",
    "%": "por ciento",
    "#": "número",
    "°": "grados",
    "/": "barra",
  },
  abbreviations: {
    "Sr.": "señor",
    "Sra.": "señora",
    "Srta.": "señorita",
    "Dr.": "doctor",
    "Dra.": "doctora",
    "D.ª": "doña",
    "Ud.": "usted",
    "Uds.": "ustedes",
    "EE. UU.": "Estados Unidos",
    "EE.UU.": "Estados Unidos",
    "etc.": "etcétera",
    "p. ej.": "por ejemplo",
    "núm.": "número",
    "pág.": "página",
    "av.": "avenida",
    "Av.": "avenida",
    "avda.": "avenida",
    "tel.": "teléfono",
    "aprox.": "aproximadamente",
    "a. C.": "antes de Cristo",
    "d. C.": "después de Cristo",
  },
  // "En 2023 ha llovido", but "5 ha de bosque".
  notUnit: /^ha\s(?!de\s)\p{L}/u,
  roman: (value) => value,
};
