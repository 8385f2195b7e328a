/** Phonemes of katakana in the notation of the misaki library, on which the Japanese voices were trained. */

const KANA = pairs(
  `ア a イ i ウ ɯ エ e オ o カ ka キ kʲi ク kɯ ケ ke コ ko ガ ɡa ギ ɡʲi グ ɡɯ ゲ ɡe ゴ ɡo
  サ sa シ ɕi ス sɨ セ se ソ so ザ ʣa ジ ʥi ズ zɨ ゼ ʣe ゾ ʣo タ ta チ ʨi ツ ʦɨ テ te ト to
  ダ da ヂ ʥi ヅ zɨ デ de ド do ナ na ニ ɲi ヌ nɯ ネ ne ノ no ハ ha ヒ çi フ ɸɯ ヘ he ホ ho
  バ ba ビ bʲi ブ bɯ ベ be ボ bo パ pa ピ pʲi プ pɯ ペ pe ポ po マ ma ミ mʲi ム mɯ メ me モ mo
  ヤ ja ユ jɯ ヨ jo ラ ɾa リ ɾʲi ル ɾɯ レ ɾe ロ ɾo ワ βa ヰ i ヱ e ヲ o ヴ vɯ ヵ ka ヶ ke ヮ βa
  ァ a ィ i ゥ ɯ ェ e ォ o ャ ja ュ jɯ ョ jo`,
);
/** Two kana that are one syllable and follow no rule. */
const DIGRAPHS = pairs(
  `イェ je ウィ βi ウェ βe ウォ βo クァ kᵝa クィ kᵝi クェ kᵝe クォ kᵝo グァ ɡᵝa グィ ɡᵝi グェ ɡᵝe グォ ɡᵝo
  ツァ ʦa ツィ ʦʲi ツェ ʦe ツォ ʦo ティ tʲi テュ tʲɨ ディ dʲi デュ dʲɨ トゥ tɯ ドゥ dɯ
  ファ ɸa フィ ɸʲi フェ ɸe フォ ɸo フュ ɸʲɨ フョ ɸʲo ヴァ va ヴィ vʲi ヴェ ve ヴォ vo ヴュ bʲɨ ヴョ bʲo`,
);
/** The vowels of small kana behind one of the row of i: キャ. */
const GLIDES = pairs("ャ a ュ ɨ ョ o ェ e");
/** Phonemes of ン, by the beginning of the next syllable. */
const NASALS: readonly (readonly [before: RegExp, nasal: string])[] = [
  [/^[mpb]/, "m"],
  [/^[kɡ]/, "ŋ"],
  [/^[ɲʨʥ]/, "ɲ"],
  [/^[ntdɾz]/, "n"],
];

/** Characters that are not katakana have no sound. */
export function kanaPhonemes(katakana: string): string {
  const syllables: string[] = [];
  for (let at = 0; at < katakana.length; ) {
    const [kana = "", small = ""] = [katakana[at], katakana[at + 1]];
    const pair = DIGRAPHS.get(kana + small) ?? withGlide(KANA.get(kana), GLIDES.get(small));
    syllables.push(pair ?? soundOf(kana));
    at += pair === undefined ? 1 : 2;
  }
  return syllables.map((sound, index) => (sound === "ン" ? nasalBefore(syllables[index + 1] ?? "") : sound)).join("");
}

function soundOf(kana: string): string {
  if (kana === "ー") return "ː";
  if (kana === "ッ") return "ʔ";
  return kana === "ン" ? kana : (KANA.get(kana) ?? "");
}

function withGlide(sound: string | undefined, vowel: string | undefined): string | undefined {
  return vowel !== undefined && sound !== undefined && sound.length > 1 && sound.endsWith("i")
    ? sound.slice(0, -1) + vowel
    : undefined;
}

function nasalBefore(sound: string): string {
  return NASALS.find(([before]) => before.test(sound))?.[1] ?? "ɴ";
}

function pairs(text: string): ReadonlyMap<string, string> {
  return new Map(Array.from(text.matchAll(/(\S+)\s+(\S+)/gu), ([, kana = "", sound = ""]) => [kana, sound]));
}
