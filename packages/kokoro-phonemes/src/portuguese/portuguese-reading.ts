import { toCardinal, toOrdinal } from "n2words/pt-PT";
import type { ReadingRules } from "../reading/reading-rules.ts";

const NO_NOUN = /^(?:$|[aeo]|à|com|da|de|do|em|e|mais|menos|na|no|o|ou|para|por|que|vírgula)$/u;
const FEMININE = /(?:[^m]as?|ção|ções|são|sões|dade|dades|vezes|gens|gem|noites|tardes|partes|mulheres)$/u;
const MASCULINE = /(?:dias?|mapas?|problemas?|sistemas?|programas?|idiomas?|temas?|gramas?)$/u;
/** Forms of Portugal and of Brazil. */
const BRAZILIAN: readonly (readonly [RegExp, string])[] = [
  [/dezasseis/u, "dezesseis"],
  [/dezassete/u, "dezessete"],
  [/dezanove/u, "dezenove"],
  [/^mil milhões|um mil milhões/u, "um bilhão"],
  [/mil milhões/u, "bilhões"],
  [/mil e (?=\p{L}+centos e )/u, "mil "],
];

export const PORTUGUESE_READING: ReadingRules = {
  locale: "pt-BR",
  decimalMark: ",",
  cardinal(value, next) {
    const noun = next.toLowerCase();
    const words = BRAZILIAN.reduce((text, [form, brazilian]) => text.replace(form, brazilian), toCardinal(value));
    const isFeminine = !NO_NOUN.test(noun) && FEMININE.test(noun) && !MASCULINE.test(noun) && !value.includes(".");
    return isFeminine ? feminine(words) : words;
  },
  ordinal: (value, mark) => {
    const words = toOrdinal(value);
    return mark.startsWith("a") || mark === "ª" ? words.replaceAll(/o\b/gu, "a") : words;
  },
  ordinalMarks: "º|°(?!C|F)|ª|[oa](?=\\s)",
  firstDay: "primeiro",
  clock: (hours, minutes) =>
    `${hours === 1 ? "uma" : hours === 2 ? "duas" : hours}${minutes === 0 ? " horas" : ` e ${minutes}`}`,
  centsWord: "e ",
  ofWord: "de ",
  rangeWord: "a",
  minusWord: "menos",
  pointWord: "ponto",
  symbols: {
    "&": "e",
    "@": "arroba",
    "+": "mais",
    "=": "igual a",
    "%": "por cento",
    "#": "número",
    "°": "graus",
    "/": "barra",
  },
  abbreviations: {
    "Sr.": "senhor",
    "Sra.": "senhora",
    "Dr.": "doutor",
    "Dra.": "doutora",
    "Prof.": "professor",
    "Profa.": "professora",
    "etc.": "etcétera",
    "p. ex.": "por exemplo",
    "pág.": "página",
    nº: "número",
    "n.º": "número",
    "Av.": "avenida",
    "R.": "rua",
    "tel.": "telefone",
    "aprox.": "aproximadamente",
    "a.C.": "antes de Cristo",
    "d.C.": "depois de Cristo",
    EUA: "Estados Unidos",
  },
  roman: (value) => value,
};

function feminine(words: string): string {
  return words
    .replace(/um$/u, "uma")
    .replace(/dois$/u, "duas")
    .replaceAll(/([cz]ent)os\b/gu, "$1as");
}
