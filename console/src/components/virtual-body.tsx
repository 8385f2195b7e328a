import { Table } from "@mantine/core";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";

interface VirtualBodyProps<Row> {
  rows: readonly Row[];
  columns: number;
  /** Height of most rows in pixels; rows are measured once they are drawn. */
  rowHeight: number;
  keyOf: (row: Row) => string;
  /** Cells of a row. */
  children: (row: Row) => ReactNode;
}

/** Body of a long table: only the rows on the screen are in the page. */
export function VirtualBody<Row>({ rows, columns, rowHeight, keyOf, children }: VirtualBodyProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const next = (body.current?.getBoundingClientRect().top ?? 0) + window.scrollY;
    setTop((now) => (Math.abs(now - next) > 1 ? next : now));
  });
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    overscan: 10,
    scrollMargin: top,
    getItemKey: (index) => keyOf(rows[index] as Row),
  });
  const items = virtualizer.getVirtualItems();
  const above = (items[0]?.start ?? top) - top;
  const below = virtualizer.getTotalSize() - ((items.at(-1)?.end ?? top) - top);
  return (
    <Table.Tbody ref={body}>
      <Spacer height={above} columns={columns} />
      {items.map(({ index, key }) => (
        <Table.Tr key={key} ref={virtualizer.measureElement} data-index={index} aria-rowindex={index + 2}>
          {children(rows[index] as Row)}
        </Table.Tr>
      ))}
      <Spacer height={below} columns={columns} />
    </Table.Tbody>
  );
}

function Spacer({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null;
  return (
    <tr>
      <td colSpan={columns} style={{ height, padding: 0 }} />
    </tr>
  );
}
