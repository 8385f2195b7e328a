import { useNavigate, useSearch } from "@tanstack/react-router";
import { startTransition, useCallback, useMemo, useState } from "react";

type State = Record<string, string>;
type Change<Fields> = (part: Partial<Fields>, options?: { replace?: boolean }) => void;

/**
 * Fields that are part of the address, so that a link, a reload and the Back button keep them. A field with its default
 * is left out. `replace` is for what is typed, which would fill the history letter by letter.
 */
export function useAddressState<Fields extends State>(defaults: Fields): [Fields, Change<Fields>] {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const json = JSON.stringify(defaults);
  // What the address does not have yet. An input that showed the address alone would lose letters on a slow page.
  const [pending, setPending] = useState<Partial<Fields>>({});
  const text = useMemo(() => {
    const initial = JSON.parse(json) as Fields;
    const present = Object.keys(initial).map((name) => [name, search[name] ?? initial[name]]);
    return JSON.stringify({ ...Object.fromEntries(present.map(([name, value]) => [name, String(value)])), ...pending });
  }, [json, search, pending]);
  const fields = useMemo(() => JSON.parse(text) as Fields, [text]);
  const change = useCallback<Change<Fields>>(
    (part, { replace = false } = {}) => {
      const initial = JSON.parse(json) as Fields;
      const changed = Object.entries(part).map(([name, value]) => [name, value ?? initial[name]] as const);
      setPending((earlier) => ({ ...earlier, ...Object.fromEntries(changed) }));
      const next = (previous: Record<string, unknown>) => {
        const merged = { ...previous, ...part };
        return Object.fromEntries(
          Object.entries(merged).filter(([name, value]) => value !== undefined && value !== initial[name]),
        );
      };
      const arrived = ([name, value]: [string, unknown]) =>
        changed.some((each) => each[0] === name && each[1] === value);
      void navigate({ to: ".", search: next as never, replace }).finally(() =>
        startTransition(() =>
          setPending(
            (fields) => Object.fromEntries(Object.entries(fields).filter((each) => !arrived(each))) as Partial<Fields>,
          ),
        ),
      );
    },
    [json, navigate],
  );
  return [fields, change];
}
