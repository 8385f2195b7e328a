/** Orders of tables, written as `name`, or `-name` for the largest first. */

interface SortColumn<Row> {
  label: string;
  sortBy?: (row: Row) => number | string;
}

/** The order after a click: the largest first, then the smallest, then the order of the list. */
export function nextSort(sort: string, name: string): string {
  if (sort === `-${name}`) return name;
  return sort === name ? "" : `-${name}`;
}

export function sortDirection(sort: string, name: string): "ascending" | "descending" | undefined {
  if (sort === name) return "ascending";
  return sort === `-${name}` ? "descending" : undefined;
}

/** Rows in the order of a column, or as they are. */
export function sortRows<Row>(rows: readonly Row[], columns: readonly SortColumn<Row>[], sort: string): readonly Row[] {
  const sortBy = columns.find(({ label }) => sortDirection(sort, label) !== undefined)?.sortBy;
  if (sortBy === undefined) return rows;
  const sign = sort.startsWith("-") ? -1 : 1;
  return rows.toSorted((a, b) => sign * compare(sortBy(a), sortBy(b)));
}

function compare(a: number | string, b: number | string): number {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}
