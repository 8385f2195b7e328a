import { lazy, Suspense } from "react";
import { PageLoading } from "./page-loading.tsx";

/** Not part of the first load. */
const ProjectKeyForm = lazy(async () => ({ default: (await import("./project-key-form.tsx")).ProjectKeyForm }));

/** What a page of models shows to a session that has no project. */
export function NeedsProjectKey() {
  return (
    <Suspense fallback={<PageLoading />}>
      <ProjectKeyForm />
    </Suspense>
  );
}
