import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { PageError } from "./page-error.tsx";
import { type LoadingShape, PageLoading } from "./page-loading.tsx";

interface QueryViewProps<Data> {
  query: UseQueryResult<Data>;
  /** What will be there. */
  loading?: LoadingShape;
  children: (data: Data) => ReactNode;
}

/** Shows a query's data, or that it is loading, or why it failed. Data that was read before stays while it is refreshed. */
export function QueryView<Data>({ query, loading = "lines", children }: QueryViewProps<Data>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error !== null) return <PageError error={query.error} reset={() => void query.refetch()} />;
  return <PageLoading shape={loading} />;
}
