import { Button, Group } from "@mantine/core";
import { type ReactNode, useId, useState } from "react";
import { t } from "../i18n/translate.ts";
import { IconAdjustments } from "../icons.tsx";

interface FilterBarProps {
  children: ReactNode;
  /** Fields that a phone shows behind a button. */
  more?: ReactNode;
  /** How many of those are set. */
  moreCount?: number;
}

/** Fields above a list. A phone shows two to a row, and rarely used ones behind a button. */
export function FilterBar({ children, more, moreCount = 0 }: FilterBarProps) {
  const [isOpen, setIsOpen] = useState(false);
  const id = useId();
  return (
    <Group gap="xs" className="filter-bar">
      {children}
      {more !== undefined && (
        <>
          <Button
            variant={moreCount > 0 ? "light" : "default"}
            size="xs"
            hiddenFrom="sm"
            leftSection={<IconAdjustments size={14} />}
            aria-expanded={isOpen}
            aria-controls={id}
            onClick={() => setIsOpen(!isOpen)}
          >
            {moreCount > 0 ? t("Filters · {{number}}", { number: moreCount }) : t("Filters")}
          </Button>
          <div id={id} className="filter-more" data-open={isOpen || undefined}>
            {more}
          </div>
        </>
      )}
    </Group>
  );
}
