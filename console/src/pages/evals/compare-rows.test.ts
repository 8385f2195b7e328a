import { expect, test } from "vitest";
import { compareRows, matchesRow } from "./compare-rows.ts";
import type { EvalItem } from "./evals-api.ts";

function item(
  position: number,
  status: EvalItem["status"],
  content: object = { question: `Row ${position}` },
): EvalItem {
  const sample = { input: [{ role: "user", content: "asked" }], output: [{ role: "assistant", content: "x" }] };
  return { datasource_item_id: position, status, datasource_item: content, sample } as unknown as EvalItem;
}

test("puts the results of runs side by side, also where a run lacks some", () => {
  const rows = compareRows([
    [item(0, "pass"), item(2, "fail")],
    [item(2, "pass"), item(1, "pass", { city: "Łódź" })],
  ]);
  expect(rows.map(({ position, title }) => [position, title])).toEqual([
    [0, "Row 0"],
    [1, "asked"],
    [2, "Row 2"],
  ]);
  expect(rows.map(({ results }) => results.map((result) => result?.status))).toEqual([
    ["pass", undefined],
    [undefined, "pass"],
    ["fail", "pass"],
  ]);
  const positions = (filter: "all" | "different" | "failed") =>
    rows.filter((row) => matchesRow(row, filter)).map(({ position }) => position);
  expect([positions("all"), positions("different"), positions("failed")]).toEqual([[0, 1, 2], [2], [2]]);
});
