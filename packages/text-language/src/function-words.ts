/** Languages in the Latin script that are detected: name, ISO 639-1 code, and name of the list of function words. */
export const LATIN = [
  ["English", "en", "eng"],
  ["German", "de", "deu"],
  ["French", "fr", "fra"],
  ["Spanish", "es", "spa"],
  ["Italian", "it", "ita"],
  ["Portuguese", "pt", "por"],
  ["Dutch", "nl", "nld"],
  ["Polish", "pl", "pol"],
  ["Swedish", "sv", "swe"],
  ["Turkish", "tr", "tur"],
  ["Danish", "da", "dan"],
  ["Norwegian", "no", "nob"],
  ["Finnish", "fi", "fin"],
  ["Czech", "cs", "ces"],
  ["Hungarian", "hu", "hun"],
  ["Romanian", "ro", "ron"],
  ["Indonesian", "id", "ind"],
  ["Croatian", "hr", "hrv"],
  ["Catalan", "ca", "cat"],
  ["Swahili", "sw", "swa"],
] as const;

interface LanguageWords {
  name: string;
  code: string;
  /** Function words that are not English as well. */
  words: ReadonlySet<string>;
  /** All function words. */
  all: ReadonlySet<string>;
}

export interface FunctionWords {
  english: ReadonlySet<string>;
  /** Also common English words that are function words of other languages, or missing in the list. */
  commonEnglish: ReadonlySet<string>;
  others: readonly LanguageWords[];
}

/** Function words of other languages that are English words too: German *die*, Dutch *want*, Spanish *no*. */
const SHARED =
  "ad ah bald ban bare bin bland care chi col cum dank den die dig dine dock dog dong door dove dose eh elf end era face far fin fire gross gut ha ham hat hem hep hi hit ho hoe hon ill im inn just kin kit lad lain lat lite ma man mange med men met mind mine mint mire mitt mod mot na nah neg no nog nu oft oh oi ok okay ole om one op opt pa pale pan par per pod pot pour pro pun re sake sale sam sans sedan sent sex sexton si sis sit ska so store sub sue sum ta tack tag tale tan tar tat ten till tom ton tot tut um us vain van vile volt wake wart want war will yang ye zero";
const OTHER_ENGLISH =
  "again ain always anyone anything away back bad best better big bitch boy day days did didn does doesn don done down even ever every everyone everything fuck fucking gave give go goes going gone gonna good got great hate hates having hello help here home hope hot isn its keep kill know last left let life like little live ll long look looking lot love mad makes making man may maybe mean need new nice nobody nor not nothing off oh old once ones own people place please put quite re real really right said saw say says see seen she shit shut shot side small someone something sorry start stay stop stupid sure talk tell thank thanks thing things think thinking time today together told tonight took try trying two until use used ve wait wanna wants watch went were when whether who whole whom why wish won word words work world worry wouldn wow year years yes yet you your yours";

let loading: Promise<FunctionWords> | undefined;

/** Loads the lists with the first text: they take 7 MB. */
export function functionWords(): Promise<FunctionWords> {
  loading ??= load();
  return loading;
}

async function load(): Promise<FunctionWords> {
  const lists = await import("stopword");
  const english = new Set(lists.eng);
  const commonEnglish = new Set([...english, ...SHARED.split(" "), ...OTHER_ENGLISH.split(" ")]);
  const others = LATIN.filter(([, code]) => code !== "en").map(([name, code, list]) => {
    const all = new Set(lists[list]);
    return { name, code, all, words: new Set(lists[list].filter((word) => !english.has(word))) };
  });
  return { english, commonEnglish, others };
}

export function wordsOf(text: string): string[] {
  return (text.match(/[\p{L}\p{M}]+/gu) ?? []).filter((word) => word.length > 1);
}
