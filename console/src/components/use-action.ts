import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";

interface ActionOptions<Output> {
  /** Prefixes of the queries that the work affects; they are read again, also after a failure. */
  changes?: readonly QueryKey[];
  onDone?: (output: Output) => unknown;
}

/** Work that a click starts, such as a search or a test; the component shows `data` and `error`. */
export function useAction<Input = void, Output = unknown>(
  run: (input: Input) => Promise<Output>,
  { changes = [], onDone }: ActionOptions<Output> = {},
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: run,
    onSuccess: (output) => onDone?.(output),
    onSettled: () => Promise.all(changes.map((queryKey) => client.invalidateQueries({ queryKey }))),
  });
}
