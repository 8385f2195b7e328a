import { type UseInfiniteQueryResult, useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useRef } from "react";
import { type Page, type Query, request } from "./request.ts";

const PAGE_SIZE = 100;

export interface Entries<Entry> {
  query: UseInfiniteQueryResult;
  /** Entries of all pages that were read; undefined before the first. */
  entries: Entry[] | undefined;
  /** Reads the next page, unless it is being read or does not exist. */
  readMore: () => void;
}

/** Reads a list of the administration API page by page. `queryKey` is what is invalidated after a change. */
export function useEntries<Entry>(queryKey: readonly unknown[], path: string, filter: Query): Entries<Entry> {
  const query = useInfiniteQuery({
    queryKey: [...queryKey, path, filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      request<Page<Entry>>(path, { query: { limit: PAGE_SIZE, ...filter, after: pageParam }, signal }),
    getNextPageParam: ({ has_more, last_id }) => (has_more ? (last_id ?? undefined) : undefined),
    placeholderData: (previous) => previous,
  });
  const { data } = query;
  const entries = useMemo(() => data?.pages.flatMap((page) => page.data), [data]);
  const latest = useRef(query);
  latest.current = query;
  // Stays the same, so that the rows need not be drawn again.
  const readMore = useCallback(() => {
    const { hasNextPage, isFetchingNextPage, fetchNextPage } = latest.current;
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, []);
  return { query, entries, readMore };
}
