import type { Phonemizer } from "../phonemizer.ts";
import { readAloud } from "../reading/read-aloud.ts";
import { wordPhonemizer } from "../sentence-phonemes.ts";
import { PORTUGUESE_READING } from "./portuguese-reading.ts";
import { joinPortuguese, pronouncePortuguese } from "./pronounce-portuguese.ts";

const LETTER_NAMES = {
  b: "bê",
  c: "cê",
  d: "dê",
  f: "éfe",
  g: "gê",
  h: "agá",
  j: "jota",
  k: "cá",
  l: "éle",
  m: "éme",
  n: "éne",
  p: "pê",
  q: "quê",
  r: "érre",
  s: "ésse",
  t: "tê",
  v: "vê",
  w: "dáblio",
  x: "xis",
  y: "ípsilon",
  z: "zê",
};

export function openPortuguese(): Phonemizer {
  return wordPhonemizer({
    normalize: readAloud(PORTUGUESE_READING),
    pronounce: pronouncePortuguese,
    joinWords: joinPortuguese,
    letterNames: LETTER_NAMES,
  });
}
