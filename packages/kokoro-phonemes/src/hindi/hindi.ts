import { toCardinal } from "n2words/hi-IN";
import type { Phonemizer } from "../phonemizer.ts";
import { readAloud } from "../reading/read-aloud.ts";
import type { ReadingRules } from "../reading/reading-rules.ts";
import { wordPhonemizer } from "../sentence-phonemes.ts";
import { pronounceHindi } from "./pronounce-hindi.ts";

const HINDI_READING: ReadingRules = {
  locale: "hi",
  decimalMark: ".",
  cardinal: (value) => toCardinal(value),
  ordinal: (value) => `${toCardinal(value)}वाँ`,
  ordinalMarks: "वाँ|वां|वीं",
  clock: (hours, minutes) => `${hours} बज${minutes === 0 ? "े" : `कर ${minutes} मिनट`}`,
  centsWord: "",
  ofWord: "",
  rangeWord: "से",
  minusWord: "माइनस",
  pointWord: "दशमलव",
  symbols: { "&": "और", "+": "प्लस", "=": "बराबर", "%": "प्रतिशत", "@": "ऐट", "/": "बटा", "°": "डिग्री" },
  abbreviations: { "डॉ.": "डॉक्टर", "श्री.": "श्री", "रु.": "रुपये", "प्रो.": "प्रोफ़ेसर" },
  roman: (value) => value,
};

const LETTER_NAMES = {
  a: "ए",
  b: "बी",
  c: "सी",
  d: "डी",
  e: "ई",
  f: "एफ़",
  g: "जी",
  h: "एच",
  i: "आई",
  j: "जे",
  k: "के",
  l: "एल",
  m: "एम",
  n: "एन",
  o: "ओ",
  p: "पी",
  q: "क्यू",
  r: "आर",
  s: "एस",
  t: "टी",
  u: "यू",
  v: "वी",
  w: "डब्ल्यू",
  x: "एक्स",
  y: "वाई",
  z: "ज़ेड",
};

export function openHindi(): Phonemizer {
  return wordPhonemizer({ normalize: readAloud(HINDI_READING), pronounce: pronounceHindi, letterNames: LETTER_NAMES });
}
