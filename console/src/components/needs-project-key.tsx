import { lazy, Suspense } from "react";
import { PageLoading } from "./page-loading.tsx";

/** Not part of the first load. */
const NoProject = lazy(async () => ({ default: (await import("./no-project.tsx")).NoProject }));

/** What a page of models shows to a session that has no project. */
export function NeedsProjectKey() {
  return (
    <Suspense fallback={<PageLoading />}>
      <NoProject />
    </Suspense>
  );
}
