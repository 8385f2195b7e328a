/** Pronunciation of Brazilian Portuguese in espeak-ng's notation, on which Kokoro's Portuguese voices were trained. */

import { rewrite, rules } from "../rewrite.ts";
import { PRIMARY, SECONDARY } from "../stress.ts";

const UNSTRESSED = new Set(
  "a o e as os um de da do das dos na no nas nos com por pra se me te lhe que ao aos ou mas sem em são foi ter ser tem num".split(
    " ",
  ),
);
/** Function words with a weak stress. */
const WEAK = new Set(
  "uma como para onde desde numa até está estão será era você não teve tinha tenho temos havia seria".split(" "),
);

const NUCLEUS =
  /ã[oe]|õe|[aeoáâéêóô][iu](?![nm](?:[^aeiouh]|$)|nh|[rlz]$)|(?:(?<![qg])u|(?<=m)u)i(?![rlzdn])|iu$|(?<=[qg])u[aáâãoóô]|(?<![qg](?=u[eiéêí]))[aeiouáâãàéêíóôõúüy]/gu;
/** A glide and vowel that end a word without an accent's help: história, série, vários. */
const FINAL_GLIDE = /(?<=[áâéêíóôú][^aeiou]*)[iue](?=[aeo]s?$)/u;

/** Words and endings in which a stressed e without a mark is open. */
const OPEN_E =
  /(?:[^c]el|ela|essa|esta|eca|ete|eve|evem|erra|ela|eto|esso|ece|ego|ega|ero|erem|ert[aeo]|er[sd][aeo]|erno|ecto|est[ao]|ebre|efe|exo|egue|edem|ede|eri[aeo]|eti[cv][ao]|essoa)s?$|^(?:era|quer|mulher|qualquer|aquela|elas?$|pel[ao]s|terra|sete|dez$|bel[ao]|velh[ao]|met[ra])/u;
const CLOSED_E =
  /^(?:pel[ao]|cabelo|selo|primeir|inteir|verde|cedo|medo|segredo|preto|cesta|sexta|esta[rvm]|mesa|senten|febre|letra|esse|este|neste|nesse|ver$|ter$|ser$|chega)/u;
/** Words and endings in which a stressed o without a mark is open. */
const OPEN_O =
  /(?:ora|oras|ova|ovas|ovos|orm[ae]|orte|orta|orto|otos?|ossa|osso|ossa|osa|osas|oje[td]o|ogo|oga|ogos|oste|ostra|olta|olha|oda|odem|ode|odo|obra|obre|ofa|ola|olas|ole|onde|opa|opo|ota|oc[ae]|ois[ai]|ol|oz|os[st]o|ordem|ovem|olhos|orr?e|old[ae]|osta|omem)s?$|^(?:foto|moto|maior|melhor|pior|menor|agora|fora|hora|nova|volta|sol$|prova|copa|logo|modo|posso|nosso|bola|nove$)/u;
const CLOSED_O =
  /(?:[dstl]ora|oso|força)s?$|^(?:tod[oa]|novo$|povo|jogo$|fogo|lobo|bolo|olho$|boca|rosto|gosto|posto|ovo|porto|corpo|torno|sopa|porque|hoje|sobre|outro|moça|onde|homem|moda$|esforço|pessoa|boa)/u;

const V = "[ˈˌ]?[aeiouáâãàéêíóôõúüɛɔ]";
const BEFORE_I = "(?=[ˈˌ]?[ií]|es?$)";
const NASAL_END = "(?=[nm](?:[^aeiouáâãàéêíóôõúüɛɔhˈˌ]|$))";

const LETTERS = rules(
  // Muito is nasal without a sign of it.
  ["(?<=^m)ˈui(?=t)", "wˈiŋ"],
  ["ch|sh", "ʃ"],
  ["^lh", "ʎ"],
  ["lh", "lj"],
  ["nh", "ɲ"],
  ["ss|ç", "s"],
  ["sç|sc(?=[ˈˌ]?[eiéêíɛ])|xc(?=[ˈˌ]?[eiéêíɛ])", "s"],
  ["rr|^r|(?<=[nls])r", "x"],
  [`r(?=${V})(?<=[aeiouáâãàéêíóôõúüɛɔ]r)`, "ɾ"],
  ["r$", "r"],
  [`(?<![bcdfgptv])r(?!${V})`, "ɾə"],
  ["r", "r"],
  [`(?<=^[ˈˌ]?[eê])x(?=${V})`, "z"],
  ["(?<=^[ˈˌ]?e)x", "s"],
  ["(?<=pr[ˈˌ]?[óo]|m[ˈˌ]?[áa]|tr[ˈˌ]?ou|s[ˈˌ]?in?t[ˈˌ]?a)x", "s"],
  ["x(?=[^aeiouáâãàéêíóôõúüˈˌ])", "s"],
  ["(?<=s[ˈˌ]?[eɛ]|t[ˈˌ]?[áa]|f[ˈˌ]?i|n[ˈˌ]?[eɛ]|fl[ˈˌ]?[eɛ]|l[ˈˌ]?[eɛ]|pl[ˈˌ]?[eɛ]|m[ˈˌ]?[aá])x", "ks"],
  ["x$", "ks"],
  ["x", "ʃ"],
  // The u of cinquenta, frequente, tranquilo, aguentar, linguística and antiguidade is sounded.
  ["(?<=c[ˈˌ]?in|fr[ˈˌ]?e|s[ˈˌ]?e|l[ˈˌ]?o|l[ˈˌ]?in)qu(?=[ˈˌ]?[eê]n)|(?<=tr[ˈˌ]?an)qu(?=[ˈˌ]?il)", "kw"],
  ["(?<=a)gu(?=[ˈˌ]?ent)|(?<=[lp][ˈˌ]?in)gu(?=[ˈˌ]?[ií])|(?<=[tb][ˈˌ]?i)gu(?=id)", "ɡw"],
  ["qu(?=[ˈˌ]?[eiéêíɛ])", "k"],
  ["qu|q", "kw"],
  ["c(?=[ˈˌ]?[eiéêíɛ])", "s"],
  ["[ck]", "k"],
  ["gu(?=[ˈˌ]?[eiéêíɛ])", "ɡ"],
  ["gu(?=[ˈˌ]?[aoáâãóôɔ])", "ɡw"],
  ["g(?=[ˈˌ]?[eiéêíɛ])|j", "ʒ"],
  ["g", "ɡ"],
  [`t${BEFORE_I}`, "ʧ"],
  [`d${BEFORE_I}`, "ʤ"],
  [`(?<=[aeiouáâãàéêíóôõúüɛɔ])s(?=${V})|s(?=[bdgvmnlrzj])`, "z"],
  ["z$", "s"],
  ["h", ""],
  // Nasal vowels.
  ["ão|am$", "ɐ\u0303ʊ\u0303"],
  ["ãe", "ɐ̃y"],
  ["õe", "o\u0303j"],
  ["ãi", "ɐ̃j"],
  ["ã", "ɐ̃"],
  [`[aáâ]${NASAL_END}`, "ɐ̃"],
  [`[eéêɛ]${NASAL_END}`, "A"],
  [`[oóôɔ]${NASAL_END}`, "o"],
  [`[uú]${NASAL_END}`, "u\u0303"],
  ["m(?=[pb])", "m"],
  ["[nm](?=[^aeiouáâãàéêíóôõúüɛɔhˈˌ]|$)", "ŋ"],
  ["(?<=ˈ)[aâ](?=[nm])|a(?=nh)", "ɐ̃"],
  ["(?<=ˈ)[uú](?=[nm])", "u\u0303"],
  ["a(?=[nm])", "æ"],
  // Falling diphthongs.
  ["[aáà]i(?![nm](?:[^aeiou]|$))", "I"],
  ["[aáà][uo](?=$|s$|[^aeiou])(?<!ˈao)", "W"],
  ["ɛi|éi", "ɛj"],
  ["ei(?=as?$)", "ɛɪ"],
  ["[eê]i", "A"],
  ["éu|ɛu", "ɛʊ"],
  ["[eê]u", "eʊ"],
  ["ói", "ɔɪ"],
  ["[oô]i", "oɪ"],
  ["[oô]u", "ow"],
  ["(?<=ˈ)ui", "uj"],
  ["iu", "iʊ"],
  // l that closes a syllable is a glide.
  ["[aáâ]l(?![aeiouáâãàéêíóôõúüɛɔhˈˌ])", "W"],
  ["[eéêɛ]l(?![aeiouáâãàéêíóôõúüɛɔhˈˌ])", "ɛʊ"],
  ["[ií]l(?![aeiouáâãàéêíóôõúüɛɔhˈˌ])", "iʊ"],
  ["[uú]l(?![aeiouáâãàéêíóôõúüɛɔhˈˌ])", "uw"],
  // Final vowels.
  ["(?<=[aeiouáâãéêíóôõúɛɔ].*)a(?=s?$)(?<!ˈa)", "æ"],
  ["e(?=s?$)(?<!ˈe)", "y"],
  ["o(?=s?$)(?<!ˈo)", "ʊ"],
  ["i(?=[aeo]s?$)(?<!ˈi)", "j"],
  ["u(?=[aeo]s?$)(?<!ˈu)", "w"],
  ["[áàâ]", "a"],
  ["é", "ɛ"],
  ["ê", "e"],
  ["í", "i"],
  ["ó", "ɔ"],
  ["[ôõ]", "o"],
  ["[úü]", "u"],
  ["y", "i"],
  ["[aeiouɛɔbdfklmnpstvwzˈˌ]", "$&"],
);

export function pronouncePortuguese(word: string): string {
  return rewrite(marked(word.replaceAll(/[^a-záâãàéêíóôõúüç]/gu, "")), LETTERS);
}

/** A final s is voiced before a vowel or voiced consonant of the next word. */
export function joinPortuguese(phonemes: string): string {
  return phonemes.replaceAll(/s(?= [ˈˌ]?[aeiouæɐɛɔAIOWũõbdɡvmnlʒʤzɲ])/gu, "z");
}

function marked(word: string): string {
  const nuclei = [...word.matchAll(NUCLEUS)].flatMap(({ 0: text, index }) => ({
    index: index + (/^u[aáâãoóô]/u.test(text) ? 1 : 0),
    text,
  }));
  const glide = FINAL_GLIDE.exec(word);
  const syllables = nuclei.filter(({ index }) => index !== glide?.index);
  const stressed = stressOf(word, syllables);
  const syllable = syllables[stressed];
  if (word === "e") return "i";
  if (syllable === undefined || UNSTRESSED.has(word)) return word;
  const at = syllable.index;
  const first = syllables[0]?.index ?? 0;
  // Words that do not end in the stressed syllable, and those of three and more, begin with a secondary stress.
  const hasSecondary = stressed > 1 || (stressed === 1 && stressed < syllables.length - 1);
  const mark = WEAK.has(word) ? SECONDARY : PRIMARY;
  const rest = `${word.slice(first, at)}${mark}${opened(word, at)}${word.slice(at + 1)}`;
  return `${word.slice(0, first)}${hasSecondary ? SECONDARY : ""}${rest}`;
}

function stressOf(word: string, syllables: readonly { text: string }[]): number {
  const accented = syllables.findIndex(({ text }) => /[áâéêíóôú]/u.test(text));
  if (accented >= 0) return accented;
  const nasal = syllables.findLastIndex(({ text }) => /[ãõ]/u.test(text));
  if (nasal >= 0) return nasal;
  const last = syllables.length - 1;
  if (word.endsWith("ius")) return Math.max(0, last - 2);
  return /(?:[^aeo][aeo]|[aeo]m|[aeo]s|ens|[aeiou][aeo])$/u.test(word) && !/[ãõ]/u.test(word)
    ? Math.max(0, last - 1)
    : last;
}

/** Writes a stressed e or o as ɛ or ɔ where it is open without an accent. */
function opened(word: string, at: number): string {
  const vowel = word.charAt(at);
  const next = word.slice(at + 1, at + 3);
  if (/^[nmiu]/.test(next)) return vowel;
  if (vowel === "e") return OPEN_E.test(word) && !CLOSED_E.test(word) ? "ɛ" : "e";
  if (vowel === "o") return OPEN_O.test(word) && !CLOSED_O.test(word) ? "ɔ" : "o";
  return vowel;
}
