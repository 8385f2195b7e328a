import { toCardinal, toOrdinal } from "n2words/it-IT";
import type { ReadingRules } from "../reading/reading-rules.ts";

const FEMININE_UNITS = /^(?:volta|ora|persona|settimana|pagina|notte|sterlina|tonnellata|casa|donna|parte)$/u;

export const ITALIAN_READING: ReadingRules = {
  locale: "it",
  decimalMark: ",",
  cardinal(value, next) {
    const words = toCardinal(value).replace(/mila e /u, "mila");
    if (value !== "1" || !/^\p{Ll}{3}/u.test(next)) return words;
    return FEMININE_UNITS.test(next) ? "una" : "un";
  },
  ordinal: (value, mark) => toOrdinal(value).replace(/o$/u, mark === "ª" ? "a" : "o"),
  ordinalMarks: "º|°(?!C|F)|ª",
  firstDay: "primo",
  clock: (hours, minutes) => `${hours}${minutes === 0 ? "" : ` e ${minutes}`}`,
  centsWord: "e ",
  ofWord: "di ",
  rangeWord: "a",
  minusWord: "meno",
  pointWord: "punto",
  symbols: {
    "&": "e",
    "@": "chiocciola",
    "+": "più",
    "=": "uguale a",
    "%": "percento",
    "#": "numero",
    "°": "gradi",
    "/": "barra",
  },
  abbreviations: {
    "Sig.": "signor",
    "Sig.ra": "signora",
    "Dott.": "dottor",
    "dott.": "dottor",
    "Dott.ssa": "dottoressa",
    "Dr.": "dottor",
    "Prof.": "professor",
    "Prof.ssa": "professoressa",
    "Ing.": "ingegner",
    "Avv.": "avvocato",
    "ecc.": "eccetera",
    "es.": "esempio",
    "pag.": "pagina",
    "tel.": "telefono",
    "ca.": "circa",
    "a.C.": "avanti Cristo",
    "d.C.": "dopo Cristo",
    "n.": "numero",
  },
  // "Nel 2023 ha piovuto", but "5 ha di bosco".
  notUnit: /^ha\s(?!di\s)\p{L}/u,
  roman: (value) => toOrdinal(value),
};
