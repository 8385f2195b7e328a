import type { Phonemizer } from "../phonemizer.ts";
import { readAloud } from "../reading/read-aloud.ts";
import { wordPhonemizer } from "../sentence-phonemes.ts";
import { ITALIAN_READING } from "./italian-reading.ts";
import { pronounceItalian } from "./pronounce-italian.ts";

const LETTER_NAMES = {
  b: "bi",
  c: "ci",
  d: "di",
  f: "effe",
  g: "gi",
  h: "acca",
  j: "i lunga",
  k: "cappa",
  l: "elle",
  m: "emme",
  n: "enne",
  p: "pi",
  q: "cu",
  r: "erre",
  s: "esse",
  t: "ti",
  v: "vu",
  w: "doppia vu",
  x: "ics",
  y: "ipsilon",
  z: "zeta",
};

export function openItalian(): Phonemizer {
  return wordPhonemizer({
    normalize: readAloud(ITALIAN_READING),
    pronounce: pronounceItalian,
    letterNames: LETTER_NAMES,
  });
}
