import { Button, Group, type MantineSize } from "@mantine/core";
import { type UseFormReturnType, useForm } from "@mantine/form";
import type { QueryKey } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { FieldForm, type FormValues } from "./field-form.tsx";
import { useSave } from "./use-save.ts";

interface AddFormProps<Values extends FormValues> {
  action: string;
  initial: Values;
  save: (values: Values) => Promise<unknown>;
  changes: readonly QueryKey[];
  parameters?: Readonly<Record<string, string>>;
  size?: MantineSize;
  isReady?: (values: Values) => boolean;
  children: (form: UseFormReturnType<Values>) => ReactNode;
}

/** A line of fields that adds to the list below it. */
export function AddForm<Values extends FormValues>(props: AddFormProps<Values>) {
  const { action, initial, save, changes, parameters = {}, size = "sm", isReady, children } = props;
  const form = useForm<Values>({ initialValues: initial });
  const saving = useSave({ save, changes, form, fields: parameters, onSaved: form.reset });
  return (
    <FieldForm form={form} saving={saving}>
      <Group align="flex-start">
        {children(form)}
        <Button
          type="submit"
          size={size}
          variant="default"
          loading={saving.isPending}
          disabled={isReady?.(form.values) === false}
        >
          {action}
        </Button>
      </Group>
    </FieldForm>
  );
}
