/** Pronunciation of Hindi in espeak-ng's notation, on which Kokoro's Hindi voices were trained. */

import { PRIMARY, SECONDARY } from "../stress.ts";

const CONSONANTS: Readonly<Record<string, string>> = {
  क: "k",
  ख: "kʰ",
  ग: "ɡ",
  घ: "ɡʰ",
  ङ: "ŋ",
  च: "c",
  छ: "cʰ",
  ज: "ɟ",
  झ: "ɟʰ",
  ञ: "ɲ",
  ट: "ʈ",
  ठ: "ʈʰ",
  ड: "ɖ",
  ढ: "ɖʰ",
  ण: "ɳ",
  त: "t",
  थ: "tʰ",
  द: "d",
  ध: "dʰ",
  न: "n",
  प: "p",
  फ: "pʰ",
  ब: "b",
  भ: "bʰ",
  म: "m",
  य: "j",
  र: "ɾ",
  ल: "l",
  व: "ʋ",
  श: "ʃ",
  ष: "ʂ",
  स: "s",
  ह: "h",
  क़: "q",
  ख़: "x",
  ग़: "ɣ",
  ज़: "z",
  ड़: "r.",
  ढ़: "r.ʰ",
  फ़: "f",
};
/** Vowels by their letters and signs. The inherent vowel has no sign. */
const VOWELS: Readonly<Record<string, string>> = {
  अ: "ə",
  आ: "aː",
  "ा": "aː",
  इ: "ɪ",
  "ि": "ɪ",
  ई: "iː",
  "ी": "iː",
  उ: "ʊ",
  "ु": "ʊ",
  ऊ: "uː",
  "ू": "uː",
  ए: "eː",
  "े": "eː",
  ऐ: "ɛː",
  "ै": "ɛː",
  ओ: "oː",
  "ो": "oː",
  औ: "ɔː",
  "ौ": "ɔː",
  ऑ: "ɔː",
  "ॉ": "ɔː",
  ऋ: "ɾɪ",
  "ृ": "ɾɪ",
};
const VIRAMA = "्";
const NASAL_SIGNS = "ंँ";
const UNSTRESSED = new Set("के का की को है हैं हूँ और से ये वे जो".split(" "));
const TILDE = "\u0303";

interface Sound {
  consonant: string;
  /** Undefined after a consonant without a vowel. */
  vowel: string | undefined;
  isInherent: boolean;
  isNasal: boolean;
}

export function pronounceHindi(word: string): string {
  const sounds = withoutSilentSchwas(soundsOf(word.normalize("NFC")));
  const stressed = UNSTRESSED.has(word) ? -1 : stressedSound(sounds);
  return sounds
    .map((sound, at) => {
      if (sound.vowel === undefined) return consonantOf(sound, sounds[at + 1]);
      const mark = at === stressed ? PRIMARY : isSecondary(sounds, at, stressed) ? SECONDARY : "";
      return `${sound.consonant}${mark}${vowelOf(sound.vowel, sounds, at, stressed)}`;
    })
    .join("");
}

/** Long vowels after a closed or distant syllable, and a heavy first syllable, have a secondary stress. */
function isSecondary(sounds: readonly Sound[], at: number, stressed: number): boolean {
  if (stressed < 0) return false;
  const syllables = sounds.flatMap(({ vowel }, index) => (vowel === undefined ? [] : [index]));
  const distance = syllables.indexOf(at) - syllables.indexOf(stressed);
  const isLong = (sounds[at]?.vowel ?? "").includes("ː");
  const isClosed = sounds[at + 1]?.vowel === undefined && at + 1 < sounds.length;
  if (distance > 0) return isLong && (distance > 1 || (at > 0 && sounds[at - 1]?.vowel === undefined));
  return at === syllables[0] && (distance < -1 || isLong || isClosed);
}

function soundsOf(word: string): Sound[] {
  const sounds: Sound[] = [];
  // NFC keeps the nukta apart.
  for (const letter of word.match(/[क-ह]़|\p{L}|\p{M}/gu) ?? []) {
    const last = sounds.at(-1);
    const consonant = CONSONANTS[letter] ?? CONSONANTS[letter.charAt(0)];
    if (consonant !== undefined) sounds.push({ consonant, vowel: "ə", isInherent: true, isNasal: false });
    else if (last === undefined || !applySign(letter, last)) sounds.push(...vowelSound(letter));
  }
  return sounds;
}

/** Changes the sound before a sign; false for another letter. */
function applySign(letter: string, sound: Sound): boolean {
  if (letter === VIRAMA) sound.vowel = undefined;
  else if (NASAL_SIGNS.includes(letter)) sound.isNasal = true;
  else if (VOWELS[letter] !== undefined && /\p{M}/u.test(letter)) {
    Object.assign(sound, { vowel: VOWELS[letter], isInherent: false });
  } else return false;
  return true;
}

function vowelSound(letter: string): Sound[] {
  const vowel = VOWELS[letter];
  return vowel === undefined ? [] : [{ consonant: "", vowel, isInherent: false, isNasal: false }];
}

function consonantOf({ consonant }: Sound, next: Sound | undefined): string {
  return consonant === "ɾ" && next !== undefined && /^[mʋʂj]/u.test(next.consonant) ? "r" : consonant;
}

function vowelOf(vowel: string, sounds: readonly Sound[], at: number, stressed: number): string {
  const full = vowel === "ə" && (at === stressed || (at === 0 && sounds[at]?.consonant === "")) ? "ʌ" : vowel;
  if (sounds[at]?.isNasal) return nasal(full, sounds[at + 1]?.consonant);
  return at === sounds.length - 1 ? full.replace("iː", "i") : full;
}

/** The inherent vowel is silent at the end of a word, and between a vowel and a syllable with another vowel. */
function withoutSilentSchwas(sounds: readonly Sound[]): Sound[] {
  const result = sounds.map((sound) => ({ ...sound }));
  for (let at = result.length - 1; at > 0; at -= 1) {
    const sound = result[at];
    const [before, next] = [result[at - 1], result[at + 1]];
    if (sound === undefined || !sound.isInherent || sound.vowel === undefined || sound.isNasal) continue;
    const followsCluster = before?.vowel === undefined && /^[jɾ]$/u.test(sound.consonant);
    const isSilent =
      next === undefined
        ? !followsCluster
        : before?.vowel !== undefined && !before.isNasal && next.vowel !== undefined && next.consonant !== "";
    if (isSilent) sound.vowel = undefined;
  }
  return result;
}

/** A long vowel before a final consonant, else a heavy syllable before the last one, else the third from the end. */
function stressedSound(sounds: readonly Sound[]): number {
  const syllables = sounds.flatMap(({ vowel }, at) => (vowel === undefined ? [] : [at]));
  const isLong = (at: number | undefined) => at !== undefined && (sounds[at]?.vowel ?? "").includes("ː");
  const isClosed = (at: number | undefined) => at !== undefined && sounds[at + 1]?.vowel === undefined;
  const last = syllables.at(-1);
  if (last !== undefined && last < sounds.length - 1 && isLong(last)) return last;
  if (isLong(syllables.at(-2)) || isClosed(syllables.at(-2))) return syllables.at(-2) ?? 0;
  return syllables.at(-3) ?? syllables.at(-2) ?? last ?? -1;
}

/** A nasal sign is a nasal vowel, or after a short vowel the nasal at the place of the next consonant. */
function nasal(vowel: string, next: string | undefined): string {
  if (next === undefined || vowel.endsWith("ː")) {
    return vowel.startsWith("e") ? `e${TILDE}ː` : `${vowel.replace("ː", "")}${TILDE}`;
  }
  if (/^[pbm]/u.test(next)) return `${vowel}m`;
  if (/^[kɡ]/u.test(next)) return `${vowel}ŋ`;
  return next === "h" ? `${vowel}${TILDE}` : `${vowel}n`;
}
