import { Card, Table, Title, VisuallyHidden } from "@mantine/core";
import type { ReactNode } from "react";
import { t } from "../i18n/translate.ts";

interface Column {
  label: string;
  ta?: "right";
  /** Shown to screen readers only. */
  isHidden?: boolean;
}

interface TableCardProps {
  title: string;
  columns: readonly (string | Column)[];
  /** Adds a last column for buttons. */
  hasActions?: boolean;
  minWidth: number;
  maxHeight?: number;
  /** Rows. */
  children: ReactNode;
}

/** A titled table, which scrolls within its card. */
export function TableCard({ title, columns, hasActions = false, minWidth, maxHeight, children }: TableCardProps) {
  const all = [...columns, ...(hasActions ? [{ label: t("Actions"), isHidden: true }] : [])].map(toColumn);
  return (
    <Card padding={0}>
      <Title order={2} p="md" pb="xs">
        {title}
      </Title>
      <Table.ScrollContainer minWidth={minWidth} {...(maxHeight !== undefined && { mah: maxHeight })} tabIndex={0}>
        <Table highlightOnHover>
          {all.length > 0 && (
            <Table.Thead>
              <Table.Tr>
                {all.map(({ label, ta, isHidden }) => (
                  <Table.Th key={label} {...(ta !== undefined && { ta })}>
                    {isHidden === true ? <VisuallyHidden>{label}</VisuallyHidden> : label}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
          )}
          <Table.Tbody>{children}</Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Card>
  );
}

function toColumn(column: string | Column): Column {
  return typeof column === "string" ? { label: column } : column;
}
