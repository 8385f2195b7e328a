import type { ButtonProps } from "@mantine/core";
import { lazy, Suspense } from "react";
import type { ConfirmDialogProps } from "./confirm-dialog.tsx";
import { DialogButton } from "./dialog-button.tsx";

/** Not part of the first load. */
const ConfirmDialog = lazy(async () => ({ default: (await import("./confirm-dialog.tsx")).ConfirmDialog }));

interface ConfirmButtonProps extends Omit<ButtonProps, "children">, Omit<ConfirmDialogProps, "onClose" | "action"> {
  "aria-label"?: string;
  children: string;
}

/** Button that asks before it acts. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { question, consequence, onConfirm, done, changes, children, ...button } = props;
  return (
    <DialogButton variant="subtle" color="red" size="compact-sm" {...button} label={children}>
      {(close) => (
        <Suspense>
          <ConfirmDialog
            onClose={close}
            question={question}
            consequence={consequence}
            action={children}
            onConfirm={onConfirm}
            done={done}
            {...(changes && { changes })}
          />
        </Suspense>
      )}
    </DialogButton>
  );
}
