import { toCardinal, toOrdinal } from "n2words/fr-FR";
import type { ReadingRules } from "../reading/reading-rules.ts";

const FEMININE =
  /^(?:heures?|minutes?|secondes?|fois|pages?|années?|journées?|semaines?|personnes?|femmes?|filles?|tonnes?|livres|voitures?|maisons?|nuits?|villes?|parties?|places?|voix)$/u;

export const FRENCH_READING: ReadingRules = {
  locale: "fr",
  decimalMark: ",",
  cardinal(value, next) {
    const words = toCardinal(value);
    return FEMININE.test(next) ? words.replace(/un$/u, "une") : words;
  },
  ordinal(value, mark) {
    if (value === "1") return /r?e$/u.test(mark) && mark !== "er" ? "première" : "premier";
    return toOrdinal(value);
  },
  ordinalMarks: "ers?|res?|ère|ème|èmes|e(?=[\\s,.;:!?)]|$)|°(?!C|F)|º",
  firstDay: "premier",
  clock: (hours, minutes) => `${hours} ${hours > 1 ? "heures" : "heure"}${minutes === 0 ? "" : ` ${minutes}`}`,
  centsWord: "",
  ofWord: "de ",
  rangeWord: "à",
  minusWord: "moins",
  pointWord: "point",
  symbols: {
    "&": "et",
    "@": "arobase",
    "+": "plus",
    "=": "égale",
    "%": "pour cent",
    "#": "dièse",
    "°": "degrés",
    "/": "barre",
  },
  abbreviations: {
    "M.": "monsieur",
    "MM.": "messieurs",
    Mme: "madame",
    "Mme.": "madame",
    Mmes: "mesdames",
    Mlle: "mademoiselle",
    Dr: "docteur",
    "Dr.": "docteur",
    Me: "maître",
    "etc.": "et cetera",
    "p. ex.": "par exemple",
    "av.": "avenue",
    "bd.": "boulevard",
    "tél.": "téléphone",
    "env.": "environ",
    "n°": "numéro",
    "p.": "page",
    "c.-à-d.": "c'est-à-dire",
    "av. J.-C.": "avant Jésus-Christ",
  },
  roman: (value) => value,
};
