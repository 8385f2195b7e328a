import { Button, type ButtonProps } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ReactNode } from "react";
import { ConfirmDialog } from "./confirm-dialog.tsx";

interface ConfirmButtonProps extends ButtonProps {
  question: string;
  consequence: ReactNode;
  onConfirm: () => Promise<unknown>;
  children: string;
}

/** Button that asks before it acts. */
export function ConfirmButton({ question, consequence, onConfirm, children, ...button }: ConfirmButtonProps) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="subtle" color="red" size="compact-sm" {...button} onClick={open}>
        {children}
      </Button>
      <ConfirmDialog
        isOpen={isOpen}
        onClose={close}
        question={question}
        consequence={consequence}
        action={children}
        onConfirm={onConfirm}
      />
    </>
  );
}
