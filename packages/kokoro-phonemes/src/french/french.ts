import type { Phonemizer } from "../phonemizer.ts";
import { readAloud } from "../reading/read-aloud.ts";
import { wordPhonemizer } from "../sentence-phonemes.ts";
import { FRENCH_READING } from "./french-reading.ts";
import { pronounceFrench } from "./pronounce-french.ts";

const LETTER_NAMES = {
  b: "bé",
  c: "cé",
  d: "dé",
  f: "effe",
  g: "gé",
  h: "ache",
  j: "ji",
  k: "ka",
  l: "elle",
  m: "emme",
  n: "enne",
  p: "pé",
  q: "cu",
  r: "erre",
  s: "esse",
  t: "té",
  v: "vé",
  w: "double vé",
  x: "ixe",
  y: "i grec",
  z: "zède",
};

export function openFrench(): Phonemizer {
  return wordPhonemizer({
    normalize: readAloud(FRENCH_READING),
    pronounce: pronounceFrench,
    letterNames: LETTER_NAMES,
  });
}
