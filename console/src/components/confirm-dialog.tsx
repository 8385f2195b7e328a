import { Button, Group, Modal, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { t } from "../i18n/translate.ts";
import { notifyFailure } from "./notify.tsx";

interface ConfirmDialogProps {
  isOpen: boolean;
  onClose: () => void;
  /** What the dialog asks. */
  question: string;
  /** What the action will break. */
  consequence: ReactNode;
  action: string;
  onConfirm: () => Promise<unknown>;
}

export function ConfirmDialog({ isOpen, onClose, question, consequence, action, onConfirm }: ConfirmDialogProps) {
  const confirm = useMutation({ mutationFn: onConfirm, onSuccess: onClose, onError: notifyFailure });
  return (
    <Modal opened={isOpen} onClose={onClose} title={question}>
      <Text size="sm" component="div">
        {consequence}
      </Text>
      <Group justify="flex-end" mt="lg" gap="xs">
        <Button variant="default" onClick={onClose} data-autofocus>
          {t("Cancel")}
        </Button>
        <Button color="red.9" loading={confirm.isPending} onClick={() => confirm.mutate()}>
          {action}
        </Button>
      </Group>
    </Modal>
  );
}
