import { Table } from "@mantine/core";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { memo } from "../i18n/memo.ts";

interface VirtualBodyProps<Row> {
  rows: readonly Row[];
  columns: number;
  /** Height of most rows in pixels; rows are measured once they are drawn. */
  rowHeight: number;
  keyOf: (row: Row) => string;
  /** Called when the last rows are on the screen, so that more can be loaded. */
  onNearEnd?: () => void;
  /** Cells of a row; keep the function between renders, and rows that stay are not drawn again. */
  children: (row: Row) => ReactNode;
}

const OVERSCAN = 5;

/** Body of a long table: only the rows on the screen are in the page. */
export function VirtualBody<Row>({ rows, columns, rowHeight, keyOf, onNearEnd, children }: VirtualBodyProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const next = (body.current?.getBoundingClientRect().top ?? 0) + window.scrollY;
    setTop((now) => (Math.abs(now - next) > 1 ? next : now));
  });
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
    scrollMargin: top,
    getItemKey: (index) => keyOf(rows[index] as Row),
  });
  const items = virtualizer.getVirtualItems();
  const isNearEnd = (items.at(-1)?.index ?? 0) >= rows.length - 1;
  // biome-ignore lint/correctness/useExhaustiveDependencies: more rows may still all be on the screen
  useEffect(() => {
    if (isNearEnd) onNearEnd?.();
  }, [isNearEnd, onNearEnd, rows.length]);
  const above = (items[0]?.start ?? top) - top;
  const below = virtualizer.getTotalSize() - ((items.at(-1)?.end ?? top) - top);
  return (
    <Table.Tbody ref={body} role="rowgroup">
      <Spacer height={above} columns={columns} />
      {items.map(({ index, key }) => (
        <Table.Tr key={key} role="row" ref={virtualizer.measureElement} data-index={index} aria-rowindex={index + 2}>
          <Cells row={rows[index] as Row} of={children as (row: unknown) => ReactNode} />
        </Table.Tr>
      ))}
      <Spacer height={below} columns={columns} />
    </Table.Tbody>
  );
}

const Cells = memo(function Cells({ row, of }: { row: unknown; of: (row: unknown) => ReactNode }) {
  return of(row);
});

function Spacer({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null;
  return (
    <tr>
      <td colSpan={columns} style={{ height, padding: 0 }} />
    </tr>
  );
}
