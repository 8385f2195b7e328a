/** Liaison: a final consonant that is pronounced before a vowel, after words that require it. */

const WITH_Z = new Set(
  (
    "les des mes tes ses ces nos vos leurs nous vous ils elles aux deux trois très chez sans dans quelques plusieurs autres certains " +
    "certaines petits petites grands grandes bons bonnes beaux mêmes différents pas quelles quels vingts cents"
  ).split(" "),
);
const WITH_T = new Set("est sont ont quand tout petit grand vingt cent étaient était fait dont huit sept".split(" "));
const WITH_N = new Set("un on en mon ton son bon aucun bien rien".split(" "));
/** Words with a vowel or an h that no consonant is linked to. */
const WITHOUT_LIAISON =
  /^(?:hauts?|hautes?|hauteurs?|héros|hiboux?|hont|hors|huit|hasard|hain|halt|handicap|hangar|hanch|haricot|harp|hâte|hauss|heurt|hock|holland|homard|hongr|huée|hurl|hall|haïr|hamac|hameau|hach|hamster|hanneton|harc|hareng|hérisson|hernie|hiérarch|hublot|huguenot|hutt|onz|oui|ouistiti|yaourt|yacht|week)/u;

/** Returns the consonant between two words, or `v` where a final f becomes one; an empty string without liaison. */
export function liaisonOf(word: string, next: string): string {
  if (!/^h?[aeiouyàâéèêëîïôùûœ]/u.test(next) || WITHOUT_LIAISON.test(next)) return "";
  if (word === "neuf") return /^(?:ans?|heures?)$/u.test(next) ? "v" : "";
  if (WITH_Z.has(word)) return "z";
  if (WITH_T.has(word)) return word === "huit" || word === "sept" ? "" : "t";
  return WITH_N.has(word) ? "n" : "";
}
