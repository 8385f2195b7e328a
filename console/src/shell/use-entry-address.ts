import { useMemo, useSyncExternalStore } from "react";

/** Pages of the console for people who are not signed in. */
const OUTSIDE: ReadonlySet<string> = new Set(["/invite", "/password"]);

interface EntryAddress {
  path: string;
  /** Code of a link that signs in once. */
  code: string | undefined;
  isOutside: boolean;
}

/** The page that the fragment of the address names. */
export function useEntryAddress(): EntryAddress {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return useMemo(() => {
    const { pathname: path, searchParams } = new URL(hash.slice(1) || "/", location.origin);
    const code = path === "/sign-in" ? (searchParams.get("code") ?? undefined) : undefined;
    return { path, code, isOutside: OUTSIDE.has(path) };
  }, [hash]);
}

function subscribe(listener: () => void): () => void {
  addEventListener("hashchange", listener);
  return () => removeEventListener("hashchange", listener);
}
