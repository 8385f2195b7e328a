import { type MantineSize, Modal } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";

interface DialogProps {
  title: string;
  onClose: () => void;
  size?: MantineSize;
  /** Only a button in it closes it, for what is shown once. */
  isOnce?: boolean;
  children: ReactNode;
}

/** A dialog that is open as long as it is drawn; then the focus returns to what opened it. */
export function Dialog({ title, onClose, size = "md", isOnce = false, children }: DialogProps) {
  const [opener] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      if (opener instanceof HTMLElement) opener.focus({ preventScroll: true });
    },
    [opener],
  );
  const once = { closeOnClickOutside: !isOnce, closeOnEscape: !isOnce, withCloseButton: !isOnce };
  return (
    <Modal opened onClose={onClose} title={title} size={size} returnFocus={false} {...once}>
      {children}
    </Modal>
  );
}
