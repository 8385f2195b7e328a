import type { Phonemizer } from "../phonemizer.ts";
import { readAloud } from "../reading/read-aloud.ts";
import { wordPhonemizer } from "../sentence-phonemes.ts";
import { joinSpanish, pronounceSpanish } from "./pronounce-spanish.ts";
import { SPANISH_READING } from "./spanish-reading.ts";

const LETTER_NAMES = {
  b: "be",
  c: "cé",
  d: "dé",
  f: "efe",
  g: "ge",
  h: "hache",
  j: "jota",
  k: "ka",
  l: "ele",
  m: "eme",
  n: "ene",
  ñ: "eñe",
  p: "pe",
  q: "cu",
  r: "erre",
  s: "ese",
  t: "té",
  v: "uve",
  w: "uve doble",
  x: "equis",
  y: "i griega",
  z: "zeta",
};

export function openSpanish(): Phonemizer {
  return wordPhonemizer({
    normalize: readAloud(SPANISH_READING),
    pronounce: pronounceSpanish,
    joinWords: joinSpanish,
    letterNames: LETTER_NAMES,
  });
}
