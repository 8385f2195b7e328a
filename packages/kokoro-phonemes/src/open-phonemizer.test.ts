/** Expected phonemes follow from each language's phonology, in the notation of Kokoro's training data. */

import { beforeAll, describe, expect, test } from "vitest";
import { openPhonemizer, type PhonemizedLanguage } from "./open-phonemizer.ts";
import type { Phonemizer } from "./phonemizer.ts";

/** Those whose rules are in this package; Japanese has a dictionary, and tests beside it. */
type RuledLanguage = Exclude<PhonemizedLanguage, "ja">;

const WORDS: Readonly<Record<RuledLanguage, readonly (readonly [text: string, phonemes: string, reason: string])[]>> = {
  es: [
    ["queso", "kˈeso", "qu before e is k"],
    ["guerra", "ɡˈera", "the u of gue is silent, rr is trilled"],
    ["cero", "θˈeɾo", "c before e is a fricative, r between vowels a tap"],
    ["la vaca", "la βˈaka", "v between vowels is a fricative"],
    ["un vaso", "ˈum bˈaso", "n before b is m, after which b is a stop"],
    ["dedo", "dˈeðo", "d is a stop after a pause, a fricative between vowels"],
    ["canción", "kanθjˈon", "an accent marks the stress, i before a vowel is a glide"],
    ["árbol", "ˈaɾβol", "an accent overrides the rule for a final l"],
    ["reloj", "relˈox", "words that end in other consonants than n and s are stressed at the end"],
    ["comen", "kˈomen", "words in n are stressed on the last but one"],
    ["país", "paˈis", "an accented i separates two syllables"],
    ["hoy", "ˈoɪ", "h is silent, final y a vowel"],
    ["calle", "kˈaʎe", "ll is palatal"],
    ["niño", "nˈiɲo", "ñ is palatal"],
    ["DNI", "dˈe ˈene ˈi", "letters that are no word are spelled"],
  ],
  fr: [
    ["les amis", "lez amˈi", "s is linked to a vowel"],
    ["les héros", "le eʁˈo", "an aspirated h is not linked"],
    ["un grand homme", "œ̃ ɡʁˈɑ̃t ˈɔm", "d is linked as t before a silent h"],
    ["ils parlent", "il pˈaʁl", "the ending of verbs is silent"],
    ["content", "kɔ̃tˈɑ̃", "the ending of adjectives is nasal"],
    ["bonne", "bˈɔn", "a double n does not make the vowel nasal"],
    ["chien", "ʃjˈɛ̃", "ien is a nasal diphthong"],
    ["nation", "nasjˈɔ̃", "ti before on is s"],
    ["oiseau", "wazˈo", "oi, s between vowels and eau"],
    ["dix euros", "dˈiz øʁˈo", "x is linked as z"],
    ["dix pages", "dˈi pˈaʒ", "x is silent before a consonant"],
    ["neuf heures", "nˈœv ˈœʁ", "f is v before heures"],
    ["aujourd'hui", "oʒuʁdyˈi", "an apostrophe within a word"],
    ["femme", "fˈam", "an exception"],
    ["tous les jours", "tˈu le ʒˈuʁ", "the s of tous is silent before a determiner"],
    ["pour tous", "puʁ tˈus", "and sounded at the end"],
    ["80 pages", "kˈatʁ vˈɛ̃ pˈaʒ", "the ending of vingts is silent"],
    ["80 ans", "kˈatʁ vˈɛ̃z ˈɑ̃", "and linked to a vowel"],
    ["famille", "famˈij", "ill after a consonant is a glide"],
  ],
  hi: [
    ["नमस्ते", "nəmˈʌstˌeː", "a written virama joins consonants and makes the syllable heavy"],
    ["काम", "kˈaːm", "the inherent vowel is silent at the end"],
    ["पानी", "pˈaːni", "the first of two long vowels is stressed"],
    ["करना", "kˈʌɾnˌaː", "the inherent vowel is silent between syllables"],
    ["हैं", "hɛ̃", "a nasal sign after a long vowel"],
    ["बंद", "bˈʌnd", "a nasal sign after a short vowel is a consonant"],
    ["विकास", "ʋɪkˈaːs", "a long closed syllable at the end is stressed"],
    ["ज़मीन", "zəmˈiːn", "a nukta changes the consonant"],
    ["मंदिर", "mˈʌndɪɾ", "the last vowel before r is sounded"],
    ["सिंह।", "sˈɪ̃h.", "a danda ends the sentence"],
  ],
  it: [
    ["ciao", "ʧˈao", "i after c only softens it"],
    ["chiesa", "kjˈɛza", "ch is k, s between vowels is voiced"],
    ["gli", "ʎɪ", "gli is palatal"],
    ["gnocchi", "ɲˈɔkːɪ", "gn is palatal, a double consonant is long"],
    ["città", "ʧitːˈa", "an accent marks the stress"],
    ["pesce", "pˈeʃe", "sc before e is a fricative"],
    ["tavolo", "tˈavolo", "stress on the third syllable from the end"],
    ["leggere", "lˈeʤːere", "infinitives in -ere may have it too"],
    ["vedere", "vedˈere", "and may not"],
    ["parlano", "pˈarlano", "plural verbs keep the stress of the stem"],
    ["italiano", "italiˈano", "adjectives in -ano are stressed on it"],
    ["pizza", "pˈiʦːa", "zz is a long affricate"],
    ["zero", "ʣˈɛro", "an initial z is voiced"],
    ["sbaglio", "zbˈaʎo", "s before b is voiced"],
    ["bicchiere", "bikːjˈɛre", "nouns in -iere are stressed on it"],
    ["l'albero", "lˈalbero", "an elided article does not move the stress"],
    ["c'è", "ʧˈɛ", "è after an elided word is stressed"],
    ["compiere", "kˈompjere", "verbs in -iere are not"],
    ["zia", "ʣˈia", "a stressed i is a syllable"],
  ],
  pt: [
    ["dia", "ʤˈiæ", "d before i is an affricate"],
    ["noite", "nˈoɪʧy", "t before a final e is an affricate"],
    ["não", "nˌɐ̃ʊ̃", "ão is a nasal diphthong"],
    ["Brasil", "brazˈiʊ", "a final l is a glide"],
    ["carro", "kˈaxʊ", "rr is a fricative"],
    ["caro", "kˈaɾʊ", "r between vowels is a tap"],
    ["filho", "fˈiljʊ", "lh is palatal"],
    ["vinho", "vˈiɲʊ", "nh is palatal"],
    ["exame", "ˌezˈɐ̃my", "x after an initial e is z"],
    ["caixa", "kˈIʃæ", "x after a diphthong is a fricative"],
    ["casas amarelas", "kˈazæz ˌæmaɾˈɛlæs", "a final s is voiced before a vowel"],
    ["quente", "kˈAŋʧy", "the u of que is silent, en is nasal"],
    ["água", "ˈaɡwæ", "the u of gua is a glide"],
    ["muito", "mwˈiŋtʊ", "is nasal without a sign of it"],
    ["cinquenta", "sˌiŋkwˈAŋtæ", "the u of qu is sounded in some words"],
    ["tranquilo", "trˌɐ̃ŋkwˈilʊ", "such as tranquilo"],
    ["aguentar", "ˌaɡwAŋtˈar", "and the u of gu"],
    ["sexta", "sˈestæ", "x before a consonant is s"],
    ["sexo", "sˈɛksʊ", "x after se and before a vowel is ks"],
    ["nove", "nˈɔvy", "nove has an open o"],
    ["novo", "nˈovʊ", "and novo a closed one"],
    ["Celsius", "sˈɛʊsiʊs", "Latin words in -ius are stressed before it"],
    ["português", "pˌoɾətuɡˈes", "an accent marks the stress"],
  ],
  zh: [
    ["你好", "ni↓xau↓", "two syllables of the third tone in a word"],
    ["上海", "ʂa↘ŋxai↓", "the tone stands after the vowel"],
    ["北京", "pei↓ʨi→ŋ", "b is not aspirated"],
    ["吃", "ꭧʰɨ→", "the apical vowel of chi"],
    ["去", "ʨʰy↘", "u after q is ü"],
    ["远", "ɥɛ↓n", "yuan"],
    ["有", "jou↓", "you"],
    ["回", "xwei↗", "ui is uei"],
    ["女儿", "ny↓ɚ↗", "er"],
    ["银行", "i↗nxa↗ŋ", "行 is hang in a bank"],
    ["行。", "ɕi↗ŋ.", "行 is xing alone"],
    ["我们，你们。", "wo↓mən, ni↓mən.", "neutral tones have no mark"],
  ],
};

const READINGS: Readonly<Record<RuledLanguage, readonly (readonly [text: string, words: string])[]>> = {
  es: [
    ["en 2023 ha llovido", "en dos mil veintitrés ha llovido"],
    ["5 ha de bosque", "cinco hectáreas de bosque"],
    ["12,50 €", "doce euros con cincuenta"],
    ["$5 millones", "cinco millones de dólares"],
    ["21 libros y 21 casas", "veintiún libros y veintiuna casas"],
    ["200 personas", "doscientas personas"],
    ["1.234.567", "un millón doscientos treinta y cuatro mil quinientos sesenta y siete"],
    ["el 14/07/2023", "el catorce de julio de dos mil veintitrés"],
    ["a las 9:30", "a las nueve y treinta"],
    ["45 %", "cuarenta y cinco por ciento"],
    ["3,5 kg", "tres coma cinco kilogramos"],
    ["el siglo XXI", "el siglo veintiuno"],
    ["la 2.ª vez", "la segunda vez"],
    ["-5 °C", "menos cinco grados Celsius"],
    ["10-20 años", "diez a veinte años"],
    ["la Sra. Pérez", "la señora Pérez"],
  ],
  fr: [
    ["12,50 €", "douze euros cinquante"],
    ["21 heures", "vingt et une heures"],
    ["à 14h30", "à quatorze heures trente"],
    ["le 1/3/2024", "le premier mars deux mille vingt-quatre"],
    ["au XXIe siècle", "au vingt et unième siècle"],
    ["le 1er étage", "le premier étage"],
    ["1 234 567", "un million deux cent trente-quatre mille cinq cent soixante-sept"],
    ["80 %", "quatre-vingts pour cent"],
    ["Mme Lefèvre", "madame Lefèvre"],
  ],
  hi: [
    ["350 रुपये", "तीन सौ पचास रुपये"],
    ["1,23,456", "एक लाख तेईस हज़ार चार सौ छप्पन"],
    ["9:30", "नौ बजकर तीस मिनट"],
    ["5%", "पाँच प्रतिशत"],
  ],
  it: [
    ["il 14 luglio 2023 ha piovuto", "il quattordici luglio duemilaventitré ha piovuto"],
    ["5 ha di bosco", "cinque ettari di bosco"],
    ["12,50 €", "dodici euro e cinquanta"],
    ["1 volta", "una volta"],
    ["alle 9:30", "alle nove e trenta"],
    ["il 1/3/2024", "il primo marzo duemilaventiquattro"],
    ["il 3° giorno", "il terzo giorno"],
    ["nel XXI secolo", "nel ventunesimo secolo"],
    ["3,14", "tre virgola quattordici"],
    ["il Sig. Rossi", "il signor Rossi"],
  ],
  pt: [
    ["R$ 14,50", "catorze reais e cinquenta"],
    ["16 dias", "dezesseis dias"],
    ["200 pessoas", "duzentas pessoas"],
    ["2 meninas", "duas meninas"],
    ["às 14h30", "às catorze e trinta"],
    ["01/03/2024", "primeiro de março de dois mil e vinte e quatro"],
    ["a 2ª vez", "a segunda vez"],
    ["século XIX", "século dezenove"],
    ["2.500 reais", "dois mil quinhentos reais"],
  ],
  zh: [
    ["2023年7月14日", "二零二三年七月十四日"],
    ["2024-03-01", "二零二四年三月一日"],
    ["12个", "十二个"],
    ["2个人", "两个人"],
    ["80%", "百分之八十"],
    ["¥25.5", "二十五点五元"],
    ["9:30", "九点三十分"],
    ["-5°C", "负五摄氏度"],
    ["10,000", "一万"],
    ["13800138000", "一三八零零一三八零零零"],
  ],
};

const languages = Object.keys(WORDS) as RuledLanguage[];
const opened = new Map<string, Phonemizer>();
beforeAll(async () => {
  for (const language of languages) opened.set(language, await openPhonemizer(language));
});

describe.each(Object.entries(WORDS))("phonemes of %s", (language, cases) => {
  test.each(cases)("%s is %s: %s", async (text, phonemes) => {
    expect(await opened.get(language)?.phonemize(text)).toBe(phonemes.normalize("NFD"));
  });
});

describe.each(Object.entries(READINGS))("reading of %s", (language, cases) => {
  test.each(cases)("%s is read as %s", (text, words) => {
    expect(opened.get(language)?.normalize(text).trim()).toBe(words);
  });
});

const ALPHABETIC = languages.filter((language) => !["hi", "zh"].includes(language));
test.each(ALPHABETIC)("keeps the punctuation that Kokoro knows in %s", async (language) => {
  expect(await opened.get(language)?.phonemize("«a» (a), a; a: a! a?")).toMatch(
    /^“ˈ?a” \(ˈ?a\), ˈ?a; ˈ?a: ˈ?a! ˈ?a\?$/u,
  );
});

test.each(languages)("has nothing to say for a sentence without letters in %s", async (language) => {
  expect(await opened.get(language)?.phonemize("— … !")).toBe("");
});

test.each(languages)("reads numbers that are large or oddly written in %s", async (language) => {
  const phonemizer = opened.get(language) as Phonemizer;
  const digits = (count: number) =>
    Array(count)
      .fill(phonemizer.normalize("7"))
      .join(language === "zh" ? "" : " ");
  expect(phonemizer.normalize("7".repeat(400))).toBe(digits(400));
  expect(phonemizer.normalize(`${"7".repeat(20)}${language === "zh" ? ".7" : ",7"}`)).toContain(digits(20));
  for (const text of ["1,23,456", "12,34,567.89", "1.234.567 890", "0º, 0ª, 0°", "0er", "0e", "0,50 €", "1e400"]) {
    expect(phonemizer.normalize(text)).not.toMatch(/\d|undefined|NaN/);
    expect(await phonemizer.phonemize(text)).not.toBe("");
  }
});
