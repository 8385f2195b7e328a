import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { fieldOf } from "./field-of.ts";
import { notifyDone, notifyFailure } from "./notify.tsx";

interface SaveOptions<Input, Output> {
  save: (input: Input) => Promise<Output>;
  /** Text that says what was done. */
  done: (input: Input) => string;
  /** Prefixes of the queries that show what is changed; they are read again, also after a failure. */
  changes: readonly QueryKey[];
  onSaved?: ((output: Output, input: Input) => void) | undefined;
  form?: { setFieldError: (field: string, error: ReactNode) => void };
  /** Fields of the form by the parameters that answers name. */
  fields?: Readonly<Record<string, string>>;
}

/** A mutation that says what it did. A failure appears at the field that it is about, or else in a notification. */
export function useSave<Input = void, Output = unknown>(options: SaveOptions<Input, Output>) {
  const { save, done, changes, onSaved, form, fields = {} } = options;
  const client = useQueryClient();
  return useMutation({
    mutationFn: save,
    onSuccess: (output, input) => {
      notifyDone(done(input));
      onSaved?.(output, input);
    },
    onError: (failure) => {
      const field = form && fieldOf(failure, fields);
      if (field === undefined) notifyFailure(failure);
      else form?.setFieldError(field, failure.message);
    },
    onSettled: () => Promise.all(changes.map((queryKey) => client.invalidateQueries({ queryKey }))),
  });
}
