import { cloneElement, type ReactElement } from "react";

interface TooltipProps {
  /** For the eye only: the element has its own accessible name. */
  label: string;
  disabled?: boolean;
  children: ReactElement<{ "data-tooltip"?: string | undefined }>;
}

/** Shows a label at its element. The element only gets an attribute, which costs a long conversation nothing. */
export function Tooltip({ label, disabled = false, children }: TooltipProps) {
  return cloneElement(children, { "data-tooltip": disabled ? undefined : label });
}
