import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type ModelEntry, modelsQuery, type Task } from "../api/models.ts";
import { useSession } from "../api/session.ts";
import { NeedsProjectKey } from "./needs-project-key.tsx";
import { NoModel } from "./no-model.tsx";
import { Page } from "./page.tsx";
import { QueryView } from "./query-view.tsx";

interface WithModelsProps {
  title: string;
  description: string;
  task: Task;
  icon: ReactNode;
  children: (models: ModelEntry[]) => ReactNode;
}

/** Page of the playground for one task; says so when the session has no key or no model for it. */
export function WithModels({ title, description, task, icon, children }: WithModelsProps) {
  const { project } = useSession();
  const query = useQuery({ ...modelsQuery, enabled: project !== null });
  if (project === null) return <NeedsProjectKey />;
  return (
    <Page title={title} description={description}>
      <QueryView query={query} loading="form">
        {(models) => {
          const fitting = models.filter(({ metadata }) => metadata.task === task);
          if (fitting.length > 0) return children(fitting);
          return <NoModel task={task} icon={icon} />;
        }}
      </QueryView>
    </Page>
  );
}
