import { Button, type ButtonProps } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ReactNode } from "react";

interface DialogButtonProps extends Omit<ButtonProps, "children"> {
  label: string;
  /** The dialog. */
  children: (close: () => void) => ReactNode;
}

/** Button that opens a dialog. */
export function DialogButton({ label, children, ...button }: DialogButtonProps) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button {...button} onClick={open}>
        {label}
      </Button>
      {isOpen && children(close)}
    </>
  );
}
