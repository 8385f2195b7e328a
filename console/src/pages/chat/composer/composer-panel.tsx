import { Paper } from "@mantine/core";
import { useClickOutside } from "@mantine/hooks";
import type { ReactNode } from "react";

interface ComposerPanelProps {
  label: string;
  onClose: () => void;
  /** Where it stands; a list of suggestions fills the width. */
  align?: "start" | "end" | "fill";
  children: ReactNode;
}

/** Panel above the composer, which Escape and a click elsewhere close. */
export function ComposerPanel({ label, onClose, align = "start", children }: ComposerPanelProps) {
  // The button that opened it closes it itself.
  const ref = useClickOutside<HTMLDivElement>(({ target }) => {
    if (!(target as Element).closest("[data-panel-button]")) onClose();
  });
  return (
    <Paper
      ref={ref}
      withBorder
      shadow="md"
      radius="md"
      className="composer-panel"
      data-align={align}
      role="dialog"
      aria-label={label}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onClose();
      }}
    >
      {children}
    </Paper>
  );
}
