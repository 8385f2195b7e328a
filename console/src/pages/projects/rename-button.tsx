import type { QueryKey } from "@tanstack/react-query";
import { DialogButton } from "../../components/dialog-button.tsx";
import { NameDialog } from "../../components/name-dialog.tsx";
import { t } from "../../i18n/translate.ts";

interface RenameButtonProps {
  title: string;
  name: string;
  rename: (name: string) => Promise<unknown>;
  changes: readonly QueryKey[];
}

export function RenameButton({ title, name, rename, changes }: RenameButtonProps) {
  return (
    <DialogButton label={t("Rename")} variant="subtle" size="compact-sm">
      {(close) => (
        <NameDialog
          title={title}
          action={t("Rename")}
          initialName={name}
          save={rename}
          changes={changes}
          onClose={close}
        />
      )}
    </DialogButton>
  );
}
