import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { t } from "../../i18n/translate.ts";
import { ProjectKeys } from "../keys/project-keys.tsx";
import { accountPath, accountQuery, type Project, projectQuery, type ServiceAccount } from "./projects-api.ts";

/** Keys of one service account. */
export function ServiceAccountPage() {
  const params = useParams({ strict: false }) as { project: string; account: string };
  const project = useQuery(projectQuery(params.project));
  const account = useQuery(accountQuery(params.project, params.account));
  return (
    <QueryView query={project} loading="page">
      {(found) => (
        <QueryView query={account} loading="page">
          {(own) => <ServiceAccountContent project={found} account={own} />}
        </QueryView>
      )}
    </QueryView>
  );
}

function ServiceAccountContent({ project, account }: { project: Project; account: ServiceAccount }) {
  const path = `${accountPath(project.id, account.id)}/api_keys`;
  return (
    <Page
      title={account.name}
      description={
        <>
          <Link to="/projects" className="link">
            {t("Projects")}
          </Link>
          {" / "}
          <Link to="/projects/$project" params={{ project: project.id }} className="link">
            {project.name}
          </Link>
          {" / "}
          {account.id}
        </>
      }
    >
      <ProjectKeys
        project={project}
        path={path}
        nameDescription={t("Tells the keys of the service account apart, such as the machine that will use it.")}
        create={async (name, seconds) => {
          const body = { name, expires_in_seconds: seconds };
          return (await request<Answers["CreatedKey"]>(path, { method: "POST", body })).value;
        }}
      />
    </Page>
  );
}
