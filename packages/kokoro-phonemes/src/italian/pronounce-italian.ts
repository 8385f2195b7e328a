/** Pronunciation of Italian in espeak-ng's notation, on which Kokoro's Italian voices were trained. */

import { rewrite, rules } from "../rewrite.ts";
import { PRIMARY, SECONDARY } from "../stress.ts";
import { italianSyllables } from "./italian-stress.ts";

const UNSTRESSED = new Set(
  (
    "a ad al allo alla ai agli alle che chi ci con col da dal dallo dalla dai dagli dalle de del dei di e ed fra gli ha ho i il in la le lo li ma " +
    "me mi ne nel nei non o od per se si su sul sui te ti tra un una vi"
  ).split(" "),
);
/** Function words with a weak stress. */
const WEAK = new Set(
  "alla come degli della delle dello hanno nella nelle nello perché più questa questo sono sugli sulla sulle uno".split(
    " ",
  ),
);
/** Endings and words in which a stressed e is closed. */
const CLOSED_E =
  /(?:ezz[ae]|ment[eoi]|ev[aoi]|evano|esc[oaie]|ecci[oaie]|ete|emmo|emo|[^i]ere|esim[oaie]|[^r]ese|esi)$|^(?:quest|quell|stess|dett|mess|met|sembr|spess|fredd|maestr|semplic|capell|segn|degn|regn|vend|tre$|mentre|dentro|nero$|rete|neve|verde|legge|sera|meno|seno|devono|vengono|nemmeno|almeno|invece|scelt|pesc|tengono|vero|vera|vetr|fede$|inoltre|appena|davvero|cerca|ricerca|spero|vedo$|vedi$|negli|nell|dell|degl|quegl)/u;
/** Endings and words in which a stressed o is closed. */
const CLOSED_O =
  /(?:[^u]on[ei]|[^u]or[ei]|[^cpr]os[oaie]|oc[ei]|on[cdtfz][a-z]*|om[bp][a-z]*|orn[oaie])$|^(?:sono|sol[oaie]|dopo|come|molt|ogn|giorn|mond|nom[ei]|somm|otto|sotto|sopra|cors|form[ai]|ordin[ei]|vol[oi]|dove|bocca|ross|colp|ora|ancora|allora|person|oltre|forse|foss|fuori|posto|voglio|voi|noi|roma|moglie|voglia|risposta|giovan|agosto|ottobre|bisogn|sogn|torn|loro$|amore)/u;

const VOWEL = "[ˈˌ]?[aeiouyɛɔàèéìíòóùú]";
const AFTER_VOWEL = "(?<=[aeiouyɛɔàèéìíòóùú])";
const FRONT = "[ˈˌ]?[eiɛèéìí]";
const NOT_I = "[ˈˌ]?[aeouɛɔàèéòóùú]";

const LETTERS = rules(
  [`cch(?=${FRONT})|ck`, "kː"],
  ["ch", "k"],
  [`cci(?=${NOT_I})|cc(?=${FRONT})`, "ʧː"],
  [`sci(?=${NOT_I})|sc(?=${FRONT})|sh`, "ʃ"],
  [`ci(?=${NOT_I})|c(?=${FRONT})`, "ʧ"],
  ["[cq]qu", "kːw"],
  ["qu", "kw"],
  ["cc|kk", "kː"],
  ["[ckq]", "k"],
  ["ggh", "ɡː"],
  ["gh", "ɡ"],
  [`ggi(?=${NOT_I})|gg(?=${FRONT})`, "ʤː"],
  [`gli(?=${NOT_I})|gl(?=[ˈˌ]?[iì])`, "ʎ"],
  ["^gn|(?<![aeiouàèéìòùɛɔ])gn", "ɲ"],
  ["gn", "ɲɲ"],
  [`gi(?=${NOT_I})|g(?=${FRONT})`, "ʤ"],
  ["gg", "ɡː"],
  [`gu(?=${VOWEL})`, "ɡw"],
  ["g", "ɡ"],
  ["(?<=^m[ˈˌ]?[ɛe]|^a|^r[ˈˌ]a)zz(?=[oaie]$|o|an|ur)", "ʣː"],
  ["zz", "ʦː"],
  ["^z", "ʣ"],
  ["z", "ʦ"],
  ["ss", "S"],
  [`s(?=[bdgvlmnr])|${AFTER_VOWEL}s(?=${VOWEL})`, "z"],
  ["pp", "pː"],
  ["tt", "tː"],
  ["bb", "bː"],
  ["dd", "dː"],
  ["rr", "rɾ"],
  [`${AFTER_VOWEL}r(?=[ˈˌ][oaàòu])(?<=.[aeiou]r)`, "ɾ"],
  [`n(?=g(?!${FRONT}))`, "ŋ"],
  ["h", ""],
  ["y", "i"],
  ["x", "ks"],
  ["(?<=[ˈˌ])i", "i"],
  [`(?<![rlz])i(?=${NOT_I})`, "j"],
  ["(?<=[rlz])i(?=[aeo]$)", "i"],
  ["^u(?=[ˈˌ]?[oɔaɛe])", "w"],
  ["u(?=[ˈˌ][ɔò])", "ʊ"],
  ["(?<=[ˈˌ]a)i$", "j"],
  ["(?<=[ˈˌ][ɛeɔou])i$", "i"],
  ["ì|í", "i"],
  ["(?<=[ˈˌ])u|ù|ú|u(?=[aeo]$)", "u"],
  ["i$", "ɪ"],
  ["u", "ʊ"],
  ["à", "a"],
  ["è", "ɛ"],
  ["[éê]", "e"],
  ["[òó]", "ɔ"],
  ["[aeioɛɔbdfjlmnprstvwˈˌ]", "$&"],
);

export function pronounceItalian(word: string): string {
  const [, elided = "", rest = word] = /^(.+)'(.+)$/u.exec(word) ?? [];
  return rewrite(lettersOf(elided) + marked(lettersOf(rest), elided !== ""), LETTERS);
}

function lettersOf(text: string): string {
  return text.replaceAll(/[^a-zàèéìíîòóùú]/gu, "");
}

/** Marks the stress of a word. Function words after an elided one have it: all'una, c'è. */
function marked(word: string, isAfterElision: boolean): string {
  if (!isAfterElision && (UNSTRESSED.has(word) || word === "è")) return word.replaceAll("è", "e");
  const { nuclei, stressed } = italianSyllables(word);
  const syllable = nuclei[stressed];
  if (syllable === undefined) return word;
  // The mark follows the glide: pjˈano.
  const offset = syllable.text.length > 1 && /^[iu]/u.test(syllable.text) ? 1 : 0;
  const at = syllable.index + offset;
  const mark = !isAfterElision && WEAK.has(word) ? SECONDARY : PRIMARY;
  return `${word.slice(0, at)}${mark}${opened(word, at)}${word.slice(at + 1)}`;
}

/** Writes a stressed e or o as ɛ or ɔ where it is open, which writing does not show. */
function opened(word: string, at: number): string {
  const vowel = word.charAt(at);
  if (vowel === "e") return CLOSED_E.test(word) ? "e" : "ɛ";
  if (vowel === "o") return CLOSED_O.test(word) && word[at - 1] !== "u" ? "o" : "ɔ";
  return vowel;
}
