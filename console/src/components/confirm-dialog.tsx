import { Button, Group, Text } from "@mantine/core";
import type { QueryKey } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { t } from "../i18n/translate.ts";
import { Dialog } from "./dialog.tsx";
import { ErrorAlert } from "./error-alert.tsx";
import { useSave } from "./use-save.ts";

export interface ConfirmDialogProps {
  onClose: () => void;
  /** What the dialog asks. */
  question: string;
  /** What the action will break. */
  consequence: ReactNode;
  action: string;
  onConfirm: () => Promise<unknown>;
  /** Text that says what was done; left out where the page shows it. */
  done?: string | undefined;
  /** Prefixes of the queries that show what is changed. */
  changes?: readonly QueryKey[];
}

/** Asks before something is done that cannot be undone. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { onClose, question, consequence, action, onConfirm, done, changes = [] } = props;
  const confirm = useSave({
    save: onConfirm,
    ...(done !== undefined && { done: () => done }),
    changes,
    onSaved: onClose,
    isShown: true,
  });
  return (
    <Dialog title={question} onClose={onClose}>
      <Text size="sm" component="div">
        {consequence}
      </Text>
      <ErrorAlert error={confirm.problem} />
      <Group justify="flex-end" mt="lg" gap="xs">
        <Button variant="default" onClick={onClose} data-autofocus>
          {t("Cancel")}
        </Button>
        <Button color="red.9" loading={confirm.isPending} onClick={() => confirm.mutate()}>
          {action}
        </Button>
      </Group>
    </Dialog>
  );
}
