import type { DetectedLanguage } from "@parlance-inference/whisper-onnx/language-detector";

/**
 * Probability from which a single other language counts in short speech. No English clip of 1 to 2.5 s reached it, of those
 * that it was chosen on and of as many others; of other languages, 15 % did at 1 s and half at 2 s.
 */
const MIN_OTHER_PROBABILITY = 0.9;
/**
 * On clips of at least three seconds, English speech (native and with a cold, also at telephone quality) has 0.88 or more,
 * other languages have 0.18 or less.
 */
const MIN_ENGLISH_PROBABILITY = 0.2;
/** The other language has to be this many times as likely as English to be certain. */
const CERTAIN_RATIO = 3;
/** Probability of a certain language: English in noise of 0 dB had other languages up to 0.71 in 87 clips. */
const MIN_CERTAIN_PROBABILITY = 0.75;

/**
 * Languages with at least 10 hours of transcribed speech in Whisper's training (Radford et al. 2022, appendix E). It also
 * names others, such as Latin, for English that it does not understand.
 */
const FAMILIAR: ReadonlySet<string> = new Set(
  (
    "zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt cy sk lv az " +
    "et sl sr fa eu is mk hy"
  ).split(" "),
);

/** The language that the speech is in rather than English. `isCertain`: enough to refuse it. Undefined: maybe English. */
export function findOtherLanguage(
  languages: readonly DetectedLanguage[],
  isShort: boolean,
): { language: string; isCertain: boolean } | undefined {
  const english = languages.find(({ language }) => language === "en")?.probability ?? 0;
  const [likeliest] = languages;
  if (english >= MIN_ENGLISH_PROBABILITY || likeliest === undefined) return undefined;
  const { language, probability } = likeliest;
  if (isShort && probability < MIN_OTHER_PROBABILITY) return undefined;
  const isClear = probability >= MIN_CERTAIN_PROBABILITY && probability >= CERTAIN_RATIO * english;
  return { language, isCertain: FAMILIAR.has(language) && isClear };
}
