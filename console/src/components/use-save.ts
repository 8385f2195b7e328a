import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { fieldOf } from "./field-of.ts";
import { notifyDone, notifyFailure } from "./notify.tsx";

interface SaveOptions<Input, Output> {
  save: (input: Input) => Promise<Output>;
  /** Text that says what was done; left out where the page shows it. */
  done?: ((input: Input, output: Output) => string) | undefined;
  /** Prefixes of the queries that show what is changed; they are read again, also after a failure. */
  changes?: readonly QueryKey[];
  onSaved?: ((output: Output, input: Input) => unknown) | undefined;
  /** Shows a failure at the field that it is about; `problem` has any other one. */
  form?: { values: object; setFieldError: (field: string, error: ReactNode) => void };
  /** Fields of the form by the parameters that answers name; equal names need no entry. */
  fields?: Readonly<Record<string, string>>;
  /** The component shows `problem`: as with a form, no notification appears. */
  isShown?: boolean;
}

/** A mutation that says what it did, and why it failed: at the field, in `problem`, or else in a notification. */
export function useSave<Input = void, Output = unknown>(options: SaveOptions<Input, Output>) {
  const { save, done, changes = [], onSaved, form, fields = {}, isShown = form !== undefined } = options;
  const client = useQueryClient();
  const fieldAt = (failure: Error) => {
    if (form === undefined) return undefined;
    const names = Object.fromEntries(Object.keys(form.values).map((name) => [name, name]));
    return fieldOf(failure, { ...names, ...fields });
  };
  const mutation = useMutation({
    mutationFn: save,
    onSuccess: (output, input) => {
      if (done !== undefined) notifyDone(done(input, output));
      return onSaved?.(output, input);
    },
    onError: (failure) => {
      const field = fieldAt(failure);
      if (field !== undefined) form?.setFieldError(field, failure.message);
      else if (!isShown) notifyFailure(failure);
    },
    onSettled: () => Promise.all(changes.map((queryKey) => client.invalidateQueries({ queryKey }))),
  });
  const { error } = mutation;
  return { ...mutation, problem: error !== null && fieldAt(error) === undefined ? error : null };
}
