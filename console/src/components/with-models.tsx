import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type ModelEntry, modelsQuery, type Task } from "../api/models.ts";
import { useSession } from "../api/session.ts";
import { Trans } from "../i18n/trans.tsx";
import { type Message, msg, t } from "../i18n/translate.ts";
import { Empty } from "./empty.tsx";
import { NeedsProjectKey } from "./needs-project-key.tsx";
import { Page } from "./page.tsx";
import { QueryView } from "./query-view.tsx";

const MISSING: Readonly<Record<Task, Message>> = {
  chat: msg("This project has no model for chat"),
  embedding: msg("This project has no model for embedding"),
  moderation: msg("This project has no model for moderation"),
  speech: msg("This project has no model for speech"),
  transcription: msg("This project has no model for transcription"),
  image: msg("This project has no model for image"),
};

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
          return (
            <Empty icon={icon} title={t(MISSING[task])}>
              <Trans
                text="Add one to <code>models</code> in parlance.yaml, or allow one in the project's model permissions."
                tags={{ code: <code /> }}
              />
            </Empty>
          );
        }}
      </QueryView>
    </Page>
  );
}
