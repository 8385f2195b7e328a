import { expect, test } from "vitest";
import { toCsv } from "./download-csv.ts";

const ROW = {
  time: 1_700_000_000,
  requests: 2,
  inputTokens: 3,
  outputTokens: 4,
  tokens: 7,
  audioSeconds: 0,
  characters: 0,
  cost: 0.5,
  reported: 0,
  compared: 0,
  isUnpriced: false,
};

test("quotes names and disarms those that a spreadsheet would run as formulas", () => {
  const names = ["plain", 'with "quotes", and a comma', '=HYPERLINK("https://attacker.example")', "-1+1"];
  const [, ...lines] = toCsv(names.map((group) => ({ ...ROW, group }))).split("\r\n");
  expect(lines.map((line) => line.replace(/^[^,]+,(.*),2,3,4,0,0,0\.5$/, "$1"))).toEqual([
    "plain",
    '"with ""quotes"", and a comma"',
    `"'=HYPERLINK(""https://attacker.example"")"`,
    "'-1+1",
    "",
  ]);
});
