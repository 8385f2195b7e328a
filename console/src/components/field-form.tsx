import { Stack } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import type { FormEvent, ReactNode } from "react";
import { checkFields } from "./check-fields.ts";
import { ErrorAlert } from "./error-alert.tsx";

/** Any fields; Mantine asks for this type, which interfaces match, too. */
// biome-ignore lint/suspicious/noExplicitAny: an interface does not match a record of unknown values
export type FormValues = Record<string, any>;

interface FieldFormProps<Values extends FormValues> {
  form: UseFormReturnType<Values>;
  /** A mutation of `useSave` that has this form. */
  saving: { mutate: (values: Values) => void; problem: Error | null };
  label?: string;
  children: ReactNode;
}

/** A form that shows what is missing, wrong or refused at its fields; the browser's own bubbles do not appear. */
export function FieldForm<Values extends FormValues>({ form, saving, label, children }: FieldFormProps<Values>) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { problems, first } = checkFields(event.currentTarget);
    const { hasErrors } = form.validate();
    if (first !== undefined) {
      form.setErrors({ ...form.errors, ...problems });
      first.focus();
    } else if (!hasErrors) saving.mutate(form.getValues());
  };
  return (
    <form noValidate onSubmit={submit} {...(label !== undefined && { "aria-label": label })}>
      <Stack>
        {children}
        <ErrorAlert error={saving.problem} />
      </Stack>
    </form>
  );
}
