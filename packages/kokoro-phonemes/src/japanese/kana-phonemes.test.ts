import { expect, test } from "vitest";
import { kanaPhonemes } from "./kana-phonemes.ts";

/** In the notation of misaki 0.9. */
test.each([
  ["トーキョー", "toːkʲoː"],
  ["ガッコー", "ɡaʔkoː"],
  ["シャシン", "ɕaɕiɴ"],
  ["キューシュー", "kʲɨːɕɨː"],
  ["サンポ", "sampo"],
  ["テンキ", "teŋkʲi"],
  ["サンニン", "saɲɲiɴ"],
  ["オンナ", "onna"],
  ["コンニチワ", "koɲɲiʨiβa"],
  ["ファイル", "ɸaiɾɯ"],
  ["ティー", "tʲiː"],
  ["チェック", "ʨeʔkɯ"],
  ["ヴァ", "va"],
  ["アァ", "aa"],
  ["A漢、", ""],
  ["", ""],
])("%s is %s", (kana, phonemes) => {
  expect(kanaPhonemes(kana)).toBe(phonemes);
});
