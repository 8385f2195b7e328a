/** Pronunciation of Castilian Spanish in espeak-ng's notation, on which Kokoro's Spanish voices were trained. */

import { rewrite, rules } from "../rewrite.ts";
import { markStress } from "../stress.ts";

const UNSTRESSED = new Set(
  "a al con de del e el en la las le les lo los me mi nos o os por que se si sin su sus te tu tus u y".split(" "),
);
/** Function words with a weak stress. */
const WEAK = new Set("aunque como cuando desde donde entre hasta hacia para pero porque sobre".split(" "));

/** Vowels of a syllable, with their glides. `_` stands for a silent u. */
const NUCLEUS =
  /[iuü][aeoáéó][iu](?![aeoáéóíú])|[iuü](?:[aeoáéó]|(?<=i)[uú]|(?<=[uü])[ií])|[aeoáéó](?:[iu](?![aeoáéóíú])|y$)|uy$|[aeiouáéíóúü]|(?<![aeou])y$/gu;
const RISING = /^[iuü][aeoáéóuúií]/;

/** A stressed vowel may have the mark ˈ or ˌ before it. B, D and G are stops or fricatives by what stands before. */
const LETTERS = rules(
  ["ch", "ʧ"],
  ["ll", "ʎ"],
  ["rr|^r|(?<=[nls])r", "r"],
  ["r", "ɾ"],
  ["ñ", "ɲ"],
  ["qu|q|k", "k"],
  ["c(?=[ˈˌ]?[eiéí])|z", "θ"],
  ["c", "k"],
  ["gu(?=[ˈˌ]?[eiéí])", "G"],
  ["g(?=[ˈˌ]?[eiéí])|j", "x"],
  ["g", "G"],
  ["[bv]", "B"],
  ["d", "D"],
  ["sh", "ʃ"],
  ["^ps|^x", "s"],
  ["x", "ks"],
  ["^h(?=u[ˈˌ]?[eé])", ""],
  ["n(?=[bvp])", "m"],
  ["n(?=[gj])", "ŋ"],
  ["[aá](?:i(?![ˈˌ]?[aeoáéóíú])|y$)", "I"],
  ["[eé](?:i(?![ˈˌ]?[aeoáéóíú])|y$)", "A"],
  ["[oó](?:i(?![ˈˌ]?[aeoáéóíú])|y$)", "oɪ"],
  ["[aá]u(?![ˈˌ]?[aeoáéóíú])", "W"],
  ["[eé]u(?![ˈˌ]?[aeoáéóíú])", "eʊ"],
  ["[oó]u(?![ˈˌ]?[aeoáéóíú])", "O"],
  ["uy$", "uj"],
  ["y(?=[ˈˌ]?[aeiouáéíóú])", "ʝ"],
  ["y", "i"],
  ["(?<![rl])u(?=[ˈˌ]?[aeoáéóií])|(?<=rr|^r|^l)u(?=[ˈˌ]?[aeoáéó])", "w"],
  ["i(?=[ˈˌ]?[aeoáéóuú])", "j"],
  ["á", "a"],
  // Open before a nasal that closes the syllable.
  ["(?<=ˈ)(?<!.{4}mˈ)[eé](?=n[^aeiouáéíóúh])", "ɛ"],
  ["é", "e"],
  ["í", "i"],
  ["ó", "o"],
  ["[úü]", "u"],
  ["[aeioufklmnpstwˈˌ]", "$&"],
);

/** Returns phonemes in which B, D and G await `joinSpanish`. */
export function pronounceSpanish(word: string): string {
  return rewrite(withStress(word.replaceAll(/[^a-zñáéíóúü]/gu, "")), LETTERS);
}

/** b, d and g are fricatives before a vowel or liquid, unless a pause or nasal, or for d an l, stands before. */
export function joinSpanish(phonemes: string): string {
  return phonemes
    .replaceAll(/n(?= [Bpm])/gu, "m")
    .replaceAll(/n(?= G)/gu, "ŋ")
    .replaceAll(/(?<!(?:^|[^\p{L}ˈˌ ] ?|[mnŋɲ] ?))B(?= ?[ˈˌ]?[aeiouɛIAWOjwɾl])/gu, "β")
    .replaceAll(/(?<!(?:^|[^\p{L}ˈˌ ] ?|[mnŋɲl] ?))D(?= ?[ˈˌ]?[aeiouɛIAWOjwɾ])/gu, "ð")
    .replaceAll(/(?<!(?:^|[^\p{L}ˈˌ ] ?|[mnŋɲ] ?))G(?= ?[ˈˌ]?[aeiouɛIAWOjwɾl])/gu, "ɣ")
    .replaceAll("B", "b")
    .replaceAll("D", "d")
    .replaceAll("G", "ɡ");
}

function withStress(word: string): string {
  if (UNSTRESSED.has(word)) return word;
  const adjective = /^(.{4,})mente$/.exec(word)?.[1];
  if (adjective !== undefined) return `${stressed(adjective)}mˈente`;
  return WEAK.has(word) ? stressed(word).replace("ˈ", "ˌ") : stressed(word);
}

function stressed(word: string): string {
  const sounded = word.replaceAll(/(?<=q)u|(?<=g)u(?=[eiéí])/gu, "_");
  const nuclei = [...sounded.matchAll(NUCLEUS)];
  const accented = nuclei.findIndex(([vowels]) => /[áéíóú]/.test(vowels));
  const last = nuclei.length - 1;
  const regular = /[aeiouns]$/.test(word) && last > 0 ? last - 1 : last;
  // The mark follows the glide: bwˈeno.
  const vowels = nuclei.map(({ 0: text, index }) => ({ index: index + (RISING.test(text) ? 1 : 0) }));
  return markStress(word, vowels, accented >= 0 ? accented : regular);
}
