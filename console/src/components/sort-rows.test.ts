import { expect, test } from "vitest";
import { nextSort, sortDirection, sortRows } from "./sort-rows.ts";

const ROWS = [
  { name: "beta", size: 9 },
  { name: "alpha", size: 10 },
  { name: "gamma", size: 2 },
];
const COLUMNS = [
  { label: "Name", sortBy: ({ name }: (typeof ROWS)[number]) => name },
  { label: "Size", sortBy: ({ size }: (typeof ROWS)[number]) => size },
  { label: "Note" },
];
const namesBy = (sort: string) => sortRows(ROWS, COLUMNS, sort).map(({ name }) => name);

test("sorts numbers by value and texts by letters, in both directions", () => {
  expect(namesBy("Size")).toEqual(["gamma", "beta", "alpha"]);
  expect(namesBy("-Size")).toEqual(["alpha", "beta", "gamma"]);
  expect(namesBy("Name")).toEqual(["alpha", "beta", "gamma"]);
});

test("leaves the order of the list without an order, and for a column that has none", () => {
  for (const sort of ["", "Note", "-Note", "other"]) expect(sortRows(ROWS, COLUMNS, sort)).toBe(ROWS);
});

test("goes from the largest to the smallest and back to the order of the list", () => {
  expect(["", "-Size", "Size", "-Name"].map((sort) => nextSort(sort, "Size"))).toEqual(["-Size", "Size", "", "-Size"]);
  expect(["Size", "-Size", "Name"].map((sort) => sortDirection(sort, "Size"))).toEqual([
    "ascending",
    "descending",
    undefined,
  ]);
});
