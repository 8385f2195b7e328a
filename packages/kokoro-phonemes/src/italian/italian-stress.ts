/** Stress of Italian words, which writing marks only on the last syllable. */

const NUCLEUS =
  /(?<=^[sdt])u(?=[oae]$)|^i(?=o$)|[iu][aeoàèéòó][iu](?![aeoiu])|[iu][aeoàèéòó]|[aeoàèéòó][iu](?![aeoiu])|[aeiouàèéìíòóùúy]/gu;

/** Endings that put the stress on the third syllable from the end. */
const THIRD_LAST = ending(
  "[ai]bil[ei]|evol[ei]|(?:fac|diffic|ut|sim|frag|mob|fert|nob|ag|um|ster)il[ei]",
  "[^pr]im[oaie]|(?:rit|lacr)im[oaie]|(?:vend|perd|nasc|cresc|amb|redd|mer|sol|depos|propos|dibatt|abit|lim|med)it[oaiei]|tramite",
  "[^aou]ic[oaie]|[^aou]ich[ei]",
  "[ao]log[oaie]|[ao]logh[ie]|ograf[oaie]|ometr[oaie]|onom[oaie]",
  "[ae]vano|..ivano|(?:ss|bb|[aeiu]r)(?:ero|ono)|[^uo](?:[^aeiour]|gli|sci|cci|gu)ono",
  "(?:[aiou]|lp|rb|nd|al|el)id[oaie]",
  "(?:an|nt|or|in|id|ar)e[oaie]",
  "(?:[cgtpbvns]|gg)ol[oaie]",
  "[aiou]gin[ei]|[ud]din[ei]|ermin[eia]|ordin[ei]",
);
/** Endings and words for which the endings above are wrong. */
const SECOND_LAST = ending(
  "tric[ei]|[iu]ol[oaie]|gnol[oaie]|parol[ae]|pistol[ae]|nicola|controll[oaie]|(?:^|[^r])europe[oaie]|ide[ae]|muse[oi]",
  "^(?:amic|nemic|antic|fatic|radic|felic|infelic|narici|cornic|formic|vescic)[oaieh]+|^(?:per|abban)dono|^patrono|gentil[ei]|april[ei]|sottil[ei]|civil[ei]|mattin[aoei]|vittim[ae]|marit[oi]",
);
/** Infinitives and nouns in -ere with the stress on it: vedere, bicchiere. */
const STRESSED_ERE =
  /(?<!mp)iere$|^ingegnere$|(?:^|[^r])(?:av|pot|vol|dov|ved|sap|ten|man|piac|sed|cad|god|tem|par|val|sol|dispiac|tac|giac|suad)ere$/u;
/** Verbs whose -ano and other words whose form does not show the stress. */
const IRREGULAR = new Set(
  (
    "albero alberi autobus angelo angeli anima anime atomo atomi attimo attimi camera camere carcere cenere codice codici credito crisi compito debito " +
    "diavolo difficili dodici domenica epoca epoche esercito esito femmina genere generi giovane giovani grafica incendio isola isole lampada " +
    "lettera lettere libero libera liberi libere limite limiti logica maschera merito metodo metodi modulo moduli napoli nobile numero numeri " +
    "nuvola opera opere organo organi ospite ospiti pecora petalo polvere povero povera poveri povere prestito quindici sabato scandalo sedici " +
    "semplice semplici sindaco spirito stupido subito tecnica tredici undici uomini utile utili vescovo visita visite vittima vittime vomito " +
    "zucchero telefono telefoni macchina macchine pagina pagine immagini margine vergine ultimo ultima celebre fabbrica pubblico pubblica " +
    "pratica critica giudice indice vertice complice dicono parlano mancano portano trovano sembrano restano pensano lavorano mangiano giocano " +
    "arrivano entrano tornano passano chiamano aspettano guardano usano amano cercano comprano costano cantano contano diventano lasciano " +
    "fenomeno fenomeni cellula cellule farmaco farmaci lacrima lacrime analisi sintesi ipotesi crisi paolo ovest est cesare giacomo cronaca inutile inutili obbligo " +
    "veneto dollaro dollari carattere caratteri merita nomina immagino desideri recupero anticipo catalogo comodo gratuito laurea esteri sabati cagliari elena " +
    "cominciano iniziano mostrano provano ricordano abitano studiano ascoltano aiutano bastano durano girano facciano abbiano vogliano possano " +
    "debbano vadano vengano diano siano stiano fossero stefano monaco modena genova bergamo taranto rimini padova mantova africa america svizzera " +
    "londra cattedra cellula formula regola tavola favola secolo popolo principe interprete presero misero videro vennero nacquero morirono fecero " +
    "dissero capita considera desidera termina domina elimina ordina indica significa applica comunica dedica giudica modifica verifica " +
    " identico magnifico sesamo cinema massimo intimo angolo angoli euro crimine crimini disordine stomaco porpora manica maniche " +
    "tessera cattolica cattolico retorica chimica medico medici storico storici unica unico chilometro chilometri centimetro centimetri metropoli " +
    "carico scarico incarico sciopero ricovero passero bambola candela mandorla fragola scatola pentola tegola zingaro zigomo zoccolo"
  ).split(" "),
);
/** Words that end in a stressed i and a vowel; elsewhere this i is a glide. */
const STRESSED_I =
  /(?:log|graf|craz|(?:tt|ll|zz|br|gl|an|rd|cc|ff|f|p|ss|nt)er|eor|eg?gor|nom|pat|pagn|sof|nerg|arch|gog|tom|scop|strateg|malatt|ferrov|foll|fantas|garanz|poliz|bug|terap|allegr|armon|sinfon|colon|ungher|lombard|turch|guar|gigl|ottic|pazz|cortes|geloso|poes|eres|anch)i[aeo]$|^(?:tuttav|v|z|m|d|p|add|inv|avv|rinv|pend|des|legg|mormor|brus|nat|rest|s|st|sp|sc|tr)i[aeo]$/u;

export interface Syllable {
  index: number;
  text: string;
}

/** Returns the vowels of each syllable and the index of the stressed one. */
export function italianSyllables(word: string): { nuclei: Syllable[]; stressed: number } {
  const hasStressedI = STRESSED_I.test(word);
  const sounded = word
    .replaceAll(/(?<=c|g|gl|sc)i(?=[aeouàèéòó])/gu, (letter, _sound, at: number) =>
      hasStressedI && at === word.length - 2 ? letter : "_",
    )
    .replaceAll(/(?<=q)u/gu, "_");
  const nuclei = [...sounded.matchAll(NUCLEUS)].flatMap(({ 0: text, index }) =>
    hasStressedI && index === word.length - 2 && text.length > 1
      ? [...text].map((letter, offset) => ({ text: letter, index: index + offset }))
      : [{ text, index }],
  );
  const last = nuclei.length - 1;
  const accented = nuclei.findIndex(({ text }) => /[àèéìíòóùú]/u.test(text));
  if (accented >= 0) return { nuclei, stressed: accented };
  if (last > 1 && isOnThirdLast(word)) return { nuclei, stressed: last - 2 };
  // Shortened words and falling diphthongs are stressed at the end: nessun, maggior, ormai. Other consonants are foreign.
  return { nuclei, stressed: /(?:[lnr]|[aeo]i)$/u.test(word) ? last : Math.max(0, last - 1) };
}

function isOnThirdLast(word: string): boolean {
  if (IRREGULAR.has(word)) return true;
  if (word.endsWith("ere")) return !STRESSED_ERE.test(word);
  return THIRD_LAST.test(word) && !SECOND_LAST.test(word);
}

function ending(...patterns: readonly string[]): RegExp {
  return new RegExp(`(?:${patterns.join("|")})$`, "u");
}
