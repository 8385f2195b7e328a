import { expect, test } from "vitest";
import { type NormalizationTables, TextNormalizer } from "./normalize-text.ts";

const TABLES: NormalizationTables = {
  months: { jan: "January", feb: "February", mar: "March", may: "May", dec: "December" },
  titles: { Dr: "Doctor", St: "Saint" },
  abbreviations: { "approx.": "approximately", "vs.": "versus" },
  units: { km: ["kilometer", "kilometers"], min: ["minute", "minutes"], GB: ["gigabyte", "gigabytes"] },
  symbols: { "=": "equals", "×": "times", "½": "one half" },
  currency: { $: ["dollar", "dollars"], "€": ["euro", "euros"], "£": ["pound", "pounds"], USD: ["dollar", "dollars"] },
  roman_cardinal: ["Chapter", "World War"],
  roman_ordinal: ["Henry"],
};
const normalizer = new TextNormalizer(TABLES);

test.each([
  ["7 apples", "seven apples"],
  ["1,250 people", "one thousand two hundred fifty people"],
  ["3.14", "three point one four"],
  ["agent 007", "agent zero zero seven"],
  ["12345678901234567890", "one two three four five six seven eight nine zero ".repeat(2).trim()],
  ["the 22nd of 101st", "the twenty second of one hundred first"],
  ["in 1998", "in nineteen ninety eight"],
  ["in 1905, 2007 and 2024", "in nineteen oh five, two thousand seven and twenty twenty four"],
  ["in 1900", "in nineteen hundred"],
  ["the 1990s", "the nineteen nineties"],
  ["7:30 pm", "seven thirty P.M"],
  ["at 10:05", "at ten oh five"],
  ["at 9:00", "at nine o'clock"],
  ["at 25:99", "at twenty five: ninety nine"],
  ["2024-03-05", "March fifth, twenty twenty four"],
  ["1/12/2024", "January twelfth, twenty twenty four"],
  ["March 3, 2024", "March third, twenty twenty four"],
  ["3 March 2024", "the third of March twenty twenty four"],
  ["$9.99", "nine dollars and ninety nine cents"],
  ["$1", "one dollar"],
  ["£0.50", "fifty pence"],
  ["$3.2 million", "three point two million dollars"],
  ["€5k", "five thousand euros"],
  ["5%", "five percent"],
  ["5 km in 1 min", "five kilometers in one minute"],
  ["16GB", "sixteen gigabytes"],
  ["-5°C", "minus five degrees Celsius"],
  ["1/2 or 3/4", "one half or three quarters"],
  ["pages 2-5", "pages two to five"],
  ["10-15%, 5–10 km", "ten to fifteen percent, five to ten kilometers"],
  ["$10–20 or £1,000-£2,000", "ten to twenty dollars or one thousand to two thousand pounds"],
  ["5 €, 2.50€ and 100$.", "five euros, two euros and fifty cents and one hundred dollars."],
  ["1½ cups, ½ more", "one and one half cups, one half more"],
  ["24/7", "twenty four seven"],
  ["the '90s and 80s", "the nineties and eighties"],
  ["COVID-19", "COVID nineteen"],
  ["555-1234", "five five five, one two three four"],
  ["+1 555-123-4567", "plus one five five five, one two three, four five six seven"],
  ["Chapter IV", "Chapter four"],
  ["Henry VIII", "Henry the eighth"],
  ["I am Chapter", "I am Chapter"],
  ["Dr. Who on St. Ives", "Doctor Who on Saint Ives"],
  ["approx. 2 × 3 = 6", "approximately two times three equals six"],
  ["this & that", "this and that"],
  ["e.g. this, i.e. that", "for example, this, that is, that"],
  ["version 2.0.1", "version two point zero point one"],
  ["B2B and MP3", "B two B and MP three"],
])("normalizes %j to %j", (text, spoken) => {
  expect(normalizer.normalize(text)).toBe(spoken);
});

test("leaves no digit in the text", () => {
  for (const text of [
    "1,2,3",
    "x9y",
    "1e5",
    "#1",
    "1:2:3",
    "10-20-30",
    "1/0",
    "00",
    ".5",
    "5.",
    "$",
    "$x",
    "99999999999999999.5",
  ]) {
    expect(normalizer.normalize(text), text).not.toMatch(/\d/);
  }
});
