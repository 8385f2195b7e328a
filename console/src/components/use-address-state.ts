import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";

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
  const fields = useMemo(() => {
    const entries = Object.entries(JSON.parse(json) as Fields);
    return Object.fromEntries(
      entries.map(([name, value]) => [name, search[name] === undefined ? value : String(search[name])]),
    ) as Fields;
  }, [json, search]);
  const change = useCallback<Change<Fields>>(
    (part, { replace = false } = {}) => {
      const initial = JSON.parse(json) as Fields;
      const next = (previous: Record<string, unknown>) => {
        const merged = { ...previous, ...part };
        return Object.fromEntries(
          Object.entries(merged).filter(([name, value]) => value !== undefined && value !== initial[name]),
        );
      };
      void navigate({ to: ".", search: next as never, replace });
    },
    [json, navigate],
  );
  return [fields, change];
}
