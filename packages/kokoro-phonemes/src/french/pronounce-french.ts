/** Pronunciation of French in espeak-ng's notation, on which Kokoro's French voice was trained. */

import { rewrite, rules } from "../rewrite.ts";
import { PRIMARY } from "../stress.ts";
import { FRENCH_EXCEPTIONS } from "./french-exceptions.ts";
import { liaisonOf } from "./liaison.ts";

const UNSTRESSED = new Set(
  (
    "a à au aux ce ces cet cette chez dans de des dès dont du en es est et eu il ils elle elles je l la le les leur ma me mes mon ne ni nos notre nous on ou " +
    "par pas pour qu que qui sa sans se ses si son sont sous sur ta te tes ton tout très tu un une vos votre vous y été ont ai as avec mais"
  ).split(" "),
);
/** Nouns, adjectives and adverbs in -ent, whose e is nasal; the ending of verbs is silent. */
const NASAL_ENT =
  /(?:[^aiou]ement|[qg]uement|[auiéyo]ment|[lmptg]ment|^ment|ident|édent|gredient|[^v]ient|quent|(?:arg|ag|urg|intellig|indulg|conting|dilig)ent|(?:^|inno|ré|ac|adoles|dé|pour|effer)cent|(?:^|ta|vio|excel|équiva|inso|opu)lent|(?:diffé|concur|tor|appa|cohé|transpa|adhé|indiffé)rent|^parent|(?:pré|ab|con)sent|(?:com?p?é?|con|pa|la|mécon)tent|(?:^|sou|a|cou|é)vent|(?:con|af|in)fluent|serpent|dent)s?$/u;
const VERB_MENT =
  /^(?:ai|for|dor|fer|confir|esti|expri|affir|trans?for|nom|consom|inti|ru|char|infor|présu|assu|résu|consu|allu|parfu)m?ment$/u;
/** Words whose final -er is pronounced. */
const SOUNDED_ER =
  /^(?:mer|fer|hiver|cher|hier|ver|enfer|amer|cancer|super|fier|ouvert|leader|poster|laser|hamster|tiers|vers|univers|travers|divers|envers|outremer|leader|master|cher|chers|reporter|tender|setter|joker|poker)s?$/u;

const V = "[%aeiouyàâäéèêëîïôöùûüœæ]";
const SOFT = "(?=[eiyéèêëîï])";
const NASAL = "(?![nmhaeiouyàâäéèêëîïôöùûüœæ])";

const LETTERS = rules(
  // Consonants.
  ["ph", "f"],
  ["(?<=psy|or|te|ar|é)ch(?=[noei](?:n|st|l))", "k"],
  ["ch(?=[rln])|chœur|ckh", "k"],
  ["s?sch|ch|sh", "ʃ"],
  ["gn", "ɲ"],
  [`gg${SOFT}`, "ɡʒ"],
  [`ge(?=[aoâôu])|g${SOFT}`, "ʒ"],
  ["gu(?=[eiyéèêî])", "ɡ"],
  ["g$|(?<=n)gs?$", ""],
  ["gg|g", "ɡ"],
  ["j", "ʒ"],
  [`cc${SOFT}`, "ks"],
  [`sc${SOFT}`, "s"],
  [`ç|c${SOFT}`, "s"],
  ["(?<=n)cs?$|ct(?=s?$)(?<=spect|stinct)", ""],
  ["cqu|cc|ck|qu|[ckq]", "k"],
  ["(?<![sx])ti(?=on|el|eux|enne|ence)", "sj"],
  ["(?<=^[ée]?)x(?=[aeiouéèêhy])|(?<=^in?[ée])x(?=[aeiouéèêhy])", "ɡz"],
  ["(?<=deu|si|di)x(?=i)", "z"],
  ["x(?=[aeiouyéèê])(?<!^[ée]x)|xc?(?=[^aeiouyéèê])", "ks"],
  ["ss", "s"],
  [`(?<=${V})s(?=${V})`, "z"],
  ["th|tt", "t"],
  ["pp", "p"],
  ["bb", "b"],
  ["dd", "d"],
  ["ff", "f"],
  ["rr|rh|r", "ʁ"],
  ["mm", "m"],
  ["h", ""],
  ["(?<=m)[bp]s?$", ""],
  ["(?<=[a-zéèêûîâô])[dtpsxz]+$", ""],
  ["z", "z"],
  ["w", "w"],
  // Endings in -ent of verbs.
  ["aient$", "ɛ"],
  ["%ent$", ""],
  // ill and il after a vowel.
  ["(?<=^m|^v|tranqu)ill", "il"],
  ["uill(?=et)", "yij"],
  ["euill?|ueill?|œill?", "œj"],
  ["ouill?", "uj"],
  ["aill?(?=$|s$|[aeiouéè])", "aj"],
  ["eill?(?=$|s$|[aeiouéè])", "ɛj"],
  ["(?<=[bcdfgpqrtvsmnl])ill|(?<=u)ill", "ij"],
  ["(?<=ou|fus|gent|sourc)ils?$", "i"],
  ["ll|l", "l"],
  // Nasal vowels.
  [`oin${NASAL}`, "wɛ̃"],
  [`(?<=[iéy])en${NASAL}`, "ɛ̃"],
  [`yen${NASAL}`, "jɛ̃"],
  [`(?:ai|ei|î|i|y)[nm]${NASAL}`, "ɛ̃"],
  [`(?:a|e|â)[nm]${NASAL}`, "ɑ̃"],
  ["emm(?=ent$)", "am"],
  [`o[nm]${NASAL}`, "ɔ̃"],
  [`u[nm]${NASAL}`, "œ̃"],
  ["nn|n", "n"],
  // Vowels of several letters.
  ["eaux?|aux?|eau", "o"],
  [`(?:œu|oeu|eû|eu)(?=[dtsxz]*$|s[eé]|t[eiyr])`, "ø"],
  ["(?!eures?$)eu(?=r[aeioué])", "ø"],
  ["(?:œu|oeu|eu|œ)(?=[rlf])", "œ"],
  ["œu|oeu|eu|eû|œ", "ø"],
  [`o[iî]e?(?=[dtsxz]*$)|oi|oî`, "wa"],
  [`oy(?=${V})`, "waj"],
  ["ou(?=[iéeaè])(?!es?$|ent$)", "w"],
  ["oue(?=[sn]?t?s?$)|ou|où|oû", "u"],
  [`ay(?=${V})|ey(?=${V})`, "ɛj"],
  ["ays?$|ai$(?<=^[a-z]*rai|^ai)", "ɛ"],
  ["ai|aî|ei|ey|ay", "ɛ"],
  [`uy(?=${V})`, "yij"],
  // e.
  ["ée(?=s?$)|é", "e"],
  ["[èêë]", "ɛ"],
  ["ers?$|ez$", "e"],
  ["(?<=^[^aeiouy]{1,2})es?$(?<=^(?:les|des|mes|tes|ses|ces))", "e"],
  ["(?<=^[^aeiouy]{1,2})e$", "ə"],
  ["es?$", ""],
  ["et$|ets$", "ɛ"],
  ["e(?=ll|nn|rr|tt|ss|mm|pp|ff|cc)(?<!^[dr]e(?=ss))", "ɛ"],
  ["e(?=[rlcfpbsxt][^%aeiouyhéèêâîôûrl])|e(?=r[^%aeiouyéèêâîôû])", "ɛ"],
  ["e(?=[rlcfxm]$)|e(?=x)|e(?=st)", "ɛ"],
  [`(?<=${V}(?:[bcdfgjlmnprstvz]|ch|ss|gn))e(?=[bcdfgjlmnprstv][aeiouyéèêâîôû])`, ""],
  [`(?<=${V}.*)e(?=${V})`, ""],
  ["e", "ə"],
  // Other vowels.
  ["(?<=[bcdfgptv][lr])i(?=[aeouéèê])(?!es?$|ent$)", "ij"],
  ["[iïy](?=[aeouéèêɛœà])(?!es?$)", "j"],
  ["[iîï]|y", "i"],
  ["[uûüù]", "y"],
  ["o(?=[dtsxp]*$)|ô|o(?=s[aeiou])", "o"],
  // Open before r and in a last syllable that a consonant closes.
  ["o(?=r)|o(?=[^aeiouyéèêâîôû]+(?:e|es|%ent)?$)|o(?=mm|nn)", "ɔ"],
  ["o", "o"],
  ["[aàâ]", "a"],
  ["[bdfklmnpstv]", "$&"],
);

const ELIDED: Readonly<Record<string, string>> = {
  qu: "k",
  jusqu: "ʒysk",
  lorsqu: "lɔʁsk",
  puisqu: "pyisk",
  c: "s",
  ç: "s",
  j: "ʒ",
};

/** Pronounces a word, which may begin with an elided one, with the liaison to `next`. */
export function pronounceFrench(word: string, next = ""): string {
  if (word === "aujourd'hui") return "oʒuʁdyˈi";
  const [, elided = "", rest = word] = /^(\p{L}+)'(.*)$/u.exec(word) ?? [];
  const start = elided === "" ? "" : (ELIDED[elided] ?? elided);
  const plain = rest.replaceAll(/[^a-zàâäçéèêëîïôöùûüœæ]/gu, "");
  const sound = soundBefore(next, plain) ?? FRENCH_EXCEPTIONS[plain] ?? soundOf(plain);
  const liaison = liaisonOf(plain, next);
  const linked = liaison === "v" ? sound.replace(/f$/u, "v") : `${sound}${liaison}`;
  return `${start}${UNSTRESSED.has(plain) ? linked : stressed(linked)}`;
}

/** Sound of six, dix, vingt and tous, whose last consonant depends on the next word. */
function soundBefore(next: string, word: string): string | undefined {
  if (word === "tous") return /^(?:[lcdmtsn]es|[nv]os|leurs|ceux)$/u.test(next) ? "tu" : undefined;
  if (word === "vingt") return /^(?:deux|trois|quatre|cinq|six|sept|huit|neuf)/u.test(next) ? "vɛ̃t" : undefined;
  if (word !== "six" && word !== "dix") return undefined;
  const start = word.slice(0, 2);
  if (next === "" || next === "sept" || next === "neuf") return `${start}s`;
  return /^(?:h(?!uit)(?=[aeiouyéè])|huit|[aeiouyéèêœ])/u.test(next) ? `${start}z` : start;
}

function soundOf(word: string): string {
  const isSilent = /[^ai]ent$/u.test(word) && (!NASAL_ENT.test(word) || VERB_MENT.test(word));
  const marked = isSilent && word.length > 4 ? word.replace(/ent$/u, "%ent") : word;
  if (SOUNDED_ER.test(word)) return rewrite(marked.replace(/ers?$/u, "èrr"), LETTERS);
  return rewrite(marked, LETTERS).replaceAll(/([bdfɡklmnpʁstvzʒʃ])\1/gu, "$1");
}

/** The last vowel carries the stress, except a silent e. */
function stressed(sound: string): string {
  return sound.replace(/([aeɛiouyøœɔɑə]\u0303?)(?=[^aeɛiouyøœɔɑ]*$)(?<!ə(?=.))/u, (vowel) => `${PRIMARY}${vowel}`);
}
