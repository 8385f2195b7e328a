import { Button, Group, type MantineSize, Stack } from "@mantine/core";
import { type UseFormInput, type UseFormReturnType, useForm } from "@mantine/form";
import type { QueryKey } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { t } from "../i18n/translate.ts";
import { Dialog } from "./dialog.tsx";
import { FieldForm, type FormValues } from "./field-form.tsx";
import { useSave } from "./use-save.ts";

interface FormDialogProps<Values extends FormValues, Output> {
  title: string;
  /** Label of the button that saves. */
  action: string | ((values: Values) => string);
  onClose: () => void;
  initial: Values;
  validate?: UseFormInput<Values>["validate"];
  /** False while what is chosen cannot be saved. */
  isReady?: (values: Values) => boolean;
  save: (values: Values) => Promise<Output>;
  /** Text that says what was done. */
  done?: ((values: Values, output: Output) => string) | undefined;
  /** Prefixes of the queries that show what is changed. */
  changes?: readonly QueryKey[];
  /** Fields by the parameters that answers name; equal names need no entry. */
  parameters?: Readonly<Record<string, string>>;
  onSaved?: ((output: Output, values: Values) => void) | undefined;
  /** Shows what exists only in the answer, such as a secret, in place of the form; undefined: the dialog closes. */
  outcome?: (output: Output) => ReactNode;
  /** Stands beside the button that saves. */
  aside?: (form: UseFormReturnType<Values>) => ReactNode;
  size?: MantineSize;
  /** Fields. */
  children: ReactNode | ((form: UseFormReturnType<Values>) => ReactNode);
}

/** A dialog whose form creates or changes something; failures appear at the field that they are about, or below. */
export function FormDialog<Values extends FormValues, Output>(props: FormDialogProps<Values, Output>) {
  const { title, action, onClose, isReady, outcome, aside, size, children } = props;
  const form = useForm<Values>({
    initialValues: props.initial,
    ...(props.validate !== undefined && { validate: props.validate }),
  });
  const saving = useSave<Values, Output>({
    save: props.save,
    done: props.done,
    changes: props.changes ?? [],
    form,
    fields: props.parameters ?? {},
    onSaved: (output, values) => {
      if (outcome?.(output) === undefined) onClose();
      props.onSaved?.(output, values);
    },
  });
  const shown = saving.data === undefined ? undefined : outcome?.(saving.data);
  if (shown !== undefined) {
    return (
      <Dialog title={title} onClose={onClose} size={size ?? "lg"} isOnce>
        <Stack>
          {shown}
          <Group justify="flex-end">
            <Button onClick={onClose}>{t("Done")}</Button>
          </Group>
        </Stack>
      </Dialog>
    );
  }
  return (
    <Dialog title={title} onClose={onClose} {...(size !== undefined && { size })}>
      <FieldForm form={form} saving={saving}>
        {typeof children === "function" ? children(form) : children}
        <Group justify={aside === undefined ? "flex-end" : "space-between"}>
          {aside?.(form)}
          <Button type="submit" loading={saving.isPending} disabled={isReady?.(form.values) === false}>
            {typeof action === "string" ? action : action(form.values)}
          </Button>
        </Group>
      </FieldForm>
    </Dialog>
  );
}
