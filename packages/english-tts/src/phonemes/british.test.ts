import { expect, test } from "vitest";
import { toBritish } from "./british.ts";

/** Words with the phonemes of the American dictionary, and those of the British one. */
test.each([
  ["returner", "ɹətˈɜɹnəɹ", "ɹətˈɜːnə"],
  ["goat", "ɡˈOt", "ɡˈQt"],
  ["expat", "ˈɛkspæt", "ˈɛkspat"],
  ["firewall", "fˈIəɹwˌɔl", "fˈIəwɔːl"],
  ["earwig", "ˈɪɹwˌɪɡ", "ˈɪəwɪɡ"],
  ["hairy", "hˈɛɹi", "hˈɛːɹi"],
  ["shop", "ʃˈɑp", "ʃˈɒp"],
  ["drama", "dɹˈɑmə", "dɹˈɑːmə"],
  ["marker", "mˈɑɹkəɹ", "mˈɑːkə"],
  ["parting", "pˈɑɹɾɪŋ", "pˈɑːtɪŋ"],
  ["deductible", "dᵻdˈʌktəbᵊl", "dɪdˈʌktəbᵊl"],
  ["", "", ""],
])("%s: %s is %s", (word, american, british) => {
  expect(toBritish(american, word)).toBe(british);
});
