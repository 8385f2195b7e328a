import { Button, type ButtonProps, Group, Modal, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { notifyFailure } from "./notify.ts";

interface ConfirmButtonProps extends ButtonProps {
  /** What the dialog asks. */
  question: string;
  /** What the action will break. */
  consequence: ReactNode;
  onConfirm: () => Promise<unknown>;
  children: string;
}

export function ConfirmButton({ question, consequence, onConfirm, children, ...button }: ConfirmButtonProps) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const [wasOpened, { open: markOpened }] = useDisclosure(false);
  const action = useMutation({ mutationFn: onConfirm, onSuccess: close, onError: notifyFailure });
  return (
    <>
      <Button
        variant="subtle"
        color="red"
        size="compact-sm"
        {...button}
        onClick={() => {
          markOpened();
          open();
        }}
      >
        {children}
      </Button>
      {/* A list has hundreds of these buttons, and most are never pressed. */}
      {wasOpened && (
        <Modal opened={isOpen} onClose={close} title={question}>
          <Text size="sm" component="div">
            {consequence}
          </Text>
          <Group justify="flex-end" mt="lg" gap="xs">
            <Button variant="default" onClick={close} data-autofocus>
              Cancel
            </Button>
            <Button color="red" loading={action.isPending} onClick={() => action.mutate()}>
              {children}
            </Button>
          </Group>
        </Modal>
      )}
    </>
  );
}
