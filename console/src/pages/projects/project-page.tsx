import { Alert, Group, Tabs } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { request } from "../../api/request.ts";
import { may, useSession } from "../../api/session.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { useAddressState } from "../../components/use-address-state.ts";
import { t } from "../../i18n/translate.ts";
import { GuardrailsTab } from "./guardrails-tab.tsx";
import { KeysTab } from "./keys-tab.tsx";
import { LimitsTab } from "./limits-tab.tsx";
import { MembersTab } from "./members-tab.tsx";
import { ModelsTab } from "./models-tab.tsx";
import { ModerationTab } from "./moderation-tab.tsx";
import { PoliciesTab } from "./policies-tab.tsx";
import { type Project, pathOf, projectQuery } from "./projects-api.ts";
import { RecordingTab } from "./recording-tab.tsx";
import { RenameButton } from "./rename-button.tsx";
import { ServiceAccountsTab } from "./service-accounts-tab.tsx";

export function ProjectPage() {
  const { project: id } = useParams({ strict: false }) as { project: string };
  const query = useQuery(projectQuery(id));
  return (
    <QueryView query={query} loading="page">
      {(project) => <ProjectContent project={project} />}
    </QueryView>
  );
}

function ProjectContent({ project }: { project: Project }) {
  const navigate = useNavigate();
  const session = useSession();
  const mayReadKeys = may(session, "project.keys.write", project.id);
  const mayLimit = may(session, "project.limits.write", project.id);
  const mayWrite = may(session, "project.write", project.id);
  const [{ tab }, setAddress] = useAddressState({ tab: mayReadKeys ? "keys" : "members" });
  const isActive = project.status === "active";
  const changes = [["project", project.id], ["projects"]];
  return (
    <Page
      title={project.name}
      description={
        <>
          <Link to="/projects" className="link">
            {t("Projects")}
          </Link>{" "}
          / {project.id}
        </>
      }
      actions={
        isActive &&
        mayWrite && (
          <Group gap="xs">
            <RenameButton
              title={t("Rename project")}
              name={project.name}
              rename={(name) => request(pathOf(project.id), { method: "POST", body: { name } })}
              changes={changes}
            />
            <ConfirmButton
              question={t("Archive {{name}}?", { name: project.name })}
              consequence={t(
                "All its keys stop working at once. An archived project cannot be restored; its usage stays.",
              )}
              onConfirm={async () => {
                await request(`${pathOf(project.id)}/archive`, { method: "POST" });
                await navigate({ to: "/projects" });
              }}
              changes={changes}
            >
              {t("Archive")}
            </ConfirmButton>
          </Group>
        )
      }
    >
      {!isActive && (
        <Alert color="gray" variant="light" title={t("This project is archived")}>
          {t("Its keys do not work and its settings cannot be changed. Its usage stays.")}
        </Alert>
      )}
      <Tabs value={tab} onChange={(next) => setAddress({ tab: next ?? "members" })} keepMounted={false}>
        <Tabs.List mb="md">
          {mayReadKeys && <Tabs.Tab value="keys">{t("Keys")}</Tabs.Tab>}
          <Tabs.Tab value="members">{t("Members")}</Tabs.Tab>
          {mayReadKeys && <Tabs.Tab value="accounts">{t("Service accounts")}</Tabs.Tab>}
          {isActive && mayLimit && (
            <>
              <Tabs.Tab value="limits">{t("Limits")}</Tabs.Tab>
              <Tabs.Tab value="models">{t("Models")}</Tabs.Tab>
              <Tabs.Tab value="moderation">{t("Moderation")}</Tabs.Tab>
              <Tabs.Tab value="guardrails">{t("Guardrails")}</Tabs.Tab>
              <Tabs.Tab value="recording">{t("Recording")}</Tabs.Tab>
              <Tabs.Tab value="policies">{t("Policies")}</Tabs.Tab>
            </>
          )}
        </Tabs.List>
        <Tabs.Panel value="keys">
          <KeysTab project={project} />
        </Tabs.Panel>
        <Tabs.Panel value="members">
          <MembersTab project={project} />
        </Tabs.Panel>
        <Tabs.Panel value="accounts">
          <ServiceAccountsTab project={project} />
        </Tabs.Panel>
        <Tabs.Panel value="limits">
          <LimitsTab project={project.id} />
        </Tabs.Panel>
        <Tabs.Panel value="models">
          <ModelsTab project={project.id} />
        </Tabs.Panel>
        <Tabs.Panel value="moderation">
          <ModerationTab project={project.id} />
        </Tabs.Panel>
        <Tabs.Panel value="guardrails">
          <GuardrailsTab project={project.id} />
        </Tabs.Panel>
        <Tabs.Panel value="recording">
          <RecordingTab project={project.id} />
        </Tabs.Panel>
        <Tabs.Panel value="policies">
          <PoliciesTab project={project.id} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
