import { Button, Card, Group, Table, Text, Title, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import { useLanguage } from "../i18n/change-language.ts";
import { t } from "../i18n/translate.ts";
import { IconArrowDown, IconArrowUp } from "../icons.tsx";
import { PageError } from "./page-error.tsx";
import { PageLoading } from "./page-loading.tsx";
import { nextSort, sortDirection, sortRows } from "./sort-rows.ts";
import { VirtualBody } from "./virtual-body.tsx";

export interface Column<Row> {
  label: string;
  cell: (row: Row) => ReactNode;
  /** Aligned to the right, with digits of equal width. */
  isNumeric?: boolean;
  /** The heading is for screen readers only. */
  isUnlabeled?: boolean;
  /** Classes of the cell. */
  className?: string;
  minWidth?: number;
  maxWidth?: number;
  /** Text of the cell's tooltip. */
  hint?: (row: Row) => string | undefined;
  /** Columns that the cell takes in this row; those after it are left out. */
  span?: (row: Row) => number;
  /** Sorts rows that are all loaded. */
  sortBy?: (row: Row) => number | string;
  /** Name of the order for `onSort`, when the service sorts. */
  sortName?: string;
}

/** State of the query that reads the rows: of one page or, with `fetchNextPage`, of several. */
interface RowsQuery {
  error: unknown;
  refetch: () => unknown;
  hasNextPage?: boolean;
  isFetchingNextPage?: boolean;
  fetchNextPage?: () => unknown;
}

interface ResourceTableProps<Row> {
  /** Heading of the card. */
  title?: string;
  /** Stands beside the title. */
  tools?: ReactNode;
  /** Sums and notes below the title. */
  caption?: ReactNode;
  columns: readonly (Column<Row> | false)[];
  /** Undefined while they are read. */
  rows: readonly Row[] | undefined;
  query?: RowsQuery;
  keyOf: (row: Row) => string;
  /** Stands in place of a table without rows. */
  empty: ReactNode;
  /** Buttons at the end of a row. */
  actions?: ((row: Row) => ReactNode) | false;
  isSelected?: (row: Row) => boolean;
  /** Unfolds below a row. */
  details?: (row: Row) => ReactNode;
  minWidth?: number;
  maxHeight?: number;
  /** Height of most rows in pixels: only the rows on the screen are drawn, and the next page is read by scrolling. */
  rowHeight?: number;
  /** For a table within a card. */
  isBare?: boolean;
  isHeadless?: boolean;
  className?: string;
  /** Order of the service, as `name` or `-name`. */
  sort?: string;
  onSort?: ((sort: string) => void) | undefined;
}

const MIN_WIDTH = 480;

/** A phone stacks the cells of a row, which is no table for Safari then: tables, rows and cells say what they are. */
const CELL = { role: "cell" };

/** Rows of a resource: loading, empty, failed or listed, with their actions, order and further pages. */
export function ResourceTable<Row>(props: ResourceTableProps<Row>) {
  const { title, tools, caption, rows, query, isBare = false } = props;
  const head = (title !== undefined || tools !== undefined) && (
    <Group justify="space-between" p="md" pb="xs" gap="xs">
      {title !== undefined && <Title order={2}>{title}</Title>}
      {tools}
    </Group>
  );
  const content = (
    <>
      {head}
      {caption !== undefined && rows !== undefined && rows.length > 0 && (
        <Text size="xs" c="dimmed" px="sm" pt="sm" className="tabular" component="div">
          {caption}
        </Text>
      )}
      {query !== undefined && query.error !== null && (
        <PageError error={query.error} reset={() => void query.refetch()} />
      )}
      {rows === undefined && query?.error == null && <PageLoading shape="rows" />}
      {rows !== undefined && <Rows {...props} rows={rows} />}
    </>
  );
  return isBare ? content : <Card padding={0}>{content}</Card>;
}

function Rows<Row>({ rows, ...props }: ResourceTableProps<Row> & { rows: readonly Row[] }) {
  const { query, empty, actions, maxHeight, minWidth = MIN_WIDTH, rowHeight, isHeadless = false, className } = props;
  const [localSort, setLocalSort] = useState("");
  const language = useLanguage();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the label of the actions is that of the language
  const columns = useMemo(() => {
    const end = actions && { label: t("Actions"), isUnlabeled: true, className: "cell-end nowrap", cell: actions };
    return [...props.columns, end].filter((column) => column !== false && column !== undefined) as Column<Row>[];
  }, [props.columns, actions, language]);
  const sorted = useMemo(() => sortRows(rows, columns, localSort), [rows, columns, localSort]);
  if (rows.length === 0 && query?.hasNextPage !== true) return empty;
  const sort = props.onSort === undefined ? localSort : (props.sort ?? "");
  return (
    <>
      <Table.ScrollContainer
        minWidth={minWidth}
        {...(maxHeight !== undefined && { mah: maxHeight })}
        {...(!isHeadless && { className: "stacking-rows" })}
        // The browser's own scroll bar tells of columns beyond the edge, and costs a long table nothing.
        type="native"
        tabIndex={0}
      >
        <Table
          highlightOnHover
          {...(className !== undefined && { className })}
          role="table"
          aria-rowcount={rows.length + 1}
        >
          {!isHeadless && (
            <Table.Thead role="rowgroup">
              <Table.Tr role="row">
                {columns.map((column) => (
                  <Heading key={column.label} column={column} sort={sort} onSort={props.onSort ?? setLocalSort} />
                ))}
              </Table.Tr>
            </Table.Thead>
          )}
          <Body {...props} rows={sorted} columns={columns} {...(rowHeight !== undefined && { rowHeight })} />
        </Table>
      </Table.ScrollContainer>
      <NextPage query={query} isAutomatic={rowHeight !== undefined} />
    </>
  );
}

interface HeadingProps<Row> {
  column: Column<Row>;
  sort: string;
  onSort: (sort: string) => void;
}

function Heading<Row>({ column, sort, onSort }: HeadingProps<Row>) {
  const { label, isNumeric, isUnlabeled, minWidth, sortBy, sortName } = column;
  const name = sortName ?? (sortBy && label);
  const direction = name === undefined ? undefined : sortDirection(sort, name);
  const text = isUnlabeled ? <VisuallyHidden>{label}</VisuallyHidden> : label;
  return (
    <Table.Th
      role="columnheader"
      {...(isNumeric && { ta: "right" })}
      {...(minWidth !== undefined && { miw: { sm: minWidth } })}
      {...(direction !== undefined && { "aria-sort": direction })}
    >
      {name === undefined ? (
        text
      ) : (
        <UnstyledButton className="sort-button" onClick={() => onSort(nextSort(sort, name))} title={t("Sort all rows")}>
          {text}
          {direction === "descending" && <IconArrowDown size={12} aria-hidden />}
          {direction === "ascending" && <IconArrowUp size={12} aria-hidden />}
        </UnstyledButton>
      )}
    </Table.Th>
  );
}

interface BodyProps<Row> extends Omit<ResourceTableProps<Row>, "columns"> {
  rows: readonly Row[];
  columns: readonly Column<Row>[];
}

function Body<Row>({ rows, columns, query, keyOf, rowHeight, isSelected, details }: BodyProps<Row>) {
  const cells = useCallback((row: Row) => <Cells row={row} columns={columns} />, [columns]);
  const readMore = useCallback(() => {
    if (query?.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage?.();
  }, [query]);
  if (rowHeight !== undefined) {
    return (
      <VirtualBody rows={rows} columns={columns.length} rowHeight={rowHeight} keyOf={keyOf} onNearEnd={readMore}>
        {cells}
      </VirtualBody>
    );
  }
  return (
    <Table.Tbody role="rowgroup">
      {rows.map((row) => {
        const below = details?.(row);
        return [
          <Table.Tr key={keyOf(row)} role="row" data-selected={isSelected?.(row) || undefined}>
            {cells(row)}
          </Table.Tr>,
          below && (
            <Table.Tr key={`${keyOf(row)} details`} role="row">
              <td {...CELL} className="cell" colSpan={columns.length}>
                {below}
              </td>
            </Table.Tr>
          ),
        ];
      })}
    </Table.Tbody>
  );
}

/** Native cells: drawing hundreds of Mantine's takes longer than a frame. */
function Cells<Row>({ row, columns }: { row: Row; columns: readonly Column<Row>[] }) {
  let covered = 0;
  return columns.map((column) => {
    if (covered > 0) {
      covered--;
      return null;
    }
    const span = column.span?.(row) ?? 1;
    covered = span - 1;
    // untranslated: classes
    const classes = ["cell", column.isNumeric && "cell-number cell-end tabular nowrap", column.className];
    return (
      <td
        key={column.label}
        {...CELL}
        data-label={column.isUnlabeled ? undefined : column.label}
        className={classes.filter(Boolean).join(" ")}
        title={column.hint?.(row)}
        {...(span > 1 && { colSpan: span })}
        {...(column.maxWidth !== undefined && { style: { maxWidth: column.maxWidth } })}
      >
        {column.cell(row)}
      </td>
    );
  });
}

function NextPage({ query, isAutomatic }: { query: RowsQuery | undefined; isAutomatic: boolean }) {
  if (isAutomatic) {
    return query?.isFetchingNextPage ? (
      <Text size="sm" c="dimmed" p="sm" ta="center" role="status">
        {t("Loading more…")}
      </Text>
    ) : null;
  }
  if (!query?.hasNextPage) return null;
  return (
    <Group justify="center" p="sm">
      <Button
        variant="default"
        size="xs"
        loading={query.isFetchingNextPage ?? false}
        onClick={() => void query.fetchNextPage?.()}
      >
        {t("Show more")}
      </Button>
    </Group>
  );
}
