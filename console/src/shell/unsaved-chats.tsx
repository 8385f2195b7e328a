import { ConfirmDialog } from "../components/confirm-dialog.tsx";
import { plural, t } from "../i18n/translate.ts";

interface UnsavedChatsProps {
  /** Conversations that the service does not have. */
  count: number;
  onClose: () => void;
  onConfirm: () => Promise<unknown>;
}

/** Asks before a sign-out removes conversations that are nowhere else. */
export function UnsavedChats({ count, onClose, onConfirm }: UnsavedChatsProps) {
  return (
    <ConfirmDialog
      onClose={onClose}
      question={t("Sign out and lose changes?")}
      consequence={plural(
        count,
        "{{count}} conversation has changes that could not be saved in your account. Signing out removes them from this browser.",
        "{{count}} conversations have changes that could not be saved in your account. Signing out removes them from this browser.",
      )}
      action={t("Sign out anyway")}
      onConfirm={onConfirm}
    />
  );
}
