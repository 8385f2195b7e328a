import { TextInput } from "@mantine/core";
import type { QueryKey } from "@tanstack/react-query";
import { t } from "../i18n/translate.ts";
import { FormDialog } from "./form-dialog.tsx";

interface NameDialogProps<Output> {
  title: string;
  action: string;
  initialName?: string;
  save: (name: string) => Promise<Output>;
  changes: readonly QueryKey[];
  onSaved?: (output: Output) => void;
  onClose: () => void;
}

/** Asks for a name. */
export function NameDialog<Output>({ initialName = "", save, ...dialog }: NameDialogProps<Output>) {
  return (
    <FormDialog {...dialog} initial={{ name: initialName }} save={({ name }) => save(name.trim())}>
      {(form) => <TextInput label={t("Name")} data-autofocus required {...form.getInputProps("name")} />}
    </FormDialog>
  );
}
