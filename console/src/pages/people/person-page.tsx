import { Alert, Badge, Button, Group, NativeSelect, Stack, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { request, urlOf } from "../../api/request.ts";
import { may, useSession } from "../../api/session.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { useSave } from "../../components/use-save.ts";
import { t } from "../../i18n/translate.ts";
import { ACCESS, AccessTable } from "./access-table.tsx";
import { AddToProject } from "./add-to-project.tsx";
import { AssignedRoles } from "./assigned-roles.tsx";
import { LinkOnce } from "./link-once.tsx";
import { pathOfUser, USERS, type User, userQuery } from "./people-queries.ts";

/** One user: role, state, and what the user may do and why. */
export function PersonPage() {
  const { user: id } = useParams({ strict: false }) as { user: string };
  return <QueryView query={useQuery(userQuery(id))}>{(user) => <Person user={user} />}</QueryView>;
}

function Person({ user }: { user: User }) {
  const session = useSession();
  const mayWrite = may(session, "organization.users.write");
  return (
    <Page
      title={user.name}
      description={
        <>
          <Link to="/people" className="link">
            {t("People")}
          </Link>{" "}
          / {user.email}
        </>
      }
      actions={
        <>
          {(session.user?.id === user.id || may(session, "organization.users.data")) && (
            <Button component="a" variant="default" href={urlOf(`${pathOfUser(user.id)}/export`)} download>
              {t("Export data")}
            </Button>
          )}
          {mayWrite && <Actions user={user} />}
        </>
      }
    >
      {user.disabled_at !== null && (
        <Alert color="gray" variant="light" title={t("This user is disabled")}>
          {t("Sessions and keys of the user do not work.")}
        </Alert>
      )}
      <Group gap="xs">
        <Badge variant="light">{user.role}</Badge>
        {user.is_scim_managed && <Badge variant="light">{t("managed by SCIM")}</Badge>}
      </Group>
      <Stack gap="xs">
        <Title order={2}>{t("What the user may do, and why")}</Title>
        <AccessTable user={user.id} />
      </Stack>
      <AddToProject user={user} />
      <AssignedRoles of="users" id={user.id} mayWrite={mayWrite} />
    </Page>
  );
}

function Actions({ user }: { user: User }) {
  const session = useSession();
  const navigate = useNavigate();
  const path = pathOfUser(user.id);
  const change = useSave({
    save: (body: { role?: string; disabled?: boolean }) => request(path, { method: "POST", body }),
    done: ({ role, disabled }) => {
      if (role !== undefined) return t("{{name}} has the role {{role}}", { name: user.name, role });
      return disabled ? t("{{name}} is disabled", { name: user.name }) : t("{{name}} is enabled", { name: user.name });
    },
    changes: [USERS, ACCESS],
  });
  const link = useSave({
    save: () => request<{ token: string }>(`${path}/password_link`, { method: "POST", body: {} }),
  });
  const isDisabled = user.disabled_at !== null;
  return (
    <>
      <NativeSelect
        aria-label={t("Role in the organization")}
        value={user.role}
        data={["owner", "member", "reader"]}
        onChange={(event) => change.mutate({ role: event.currentTarget.value })}
      />
      <Button variant="default" loading={link.isPending} onClick={() => link.mutate()}>
        {t("Password link")}
      </Button>
      {isDisabled ? (
        <Button variant="default" onClick={() => change.mutate({ disabled: false })}>
          {t("Enable")}
        </Button>
      ) : (
        <ConfirmButton
          question={t("Disable {{name}}?", { name: user.name })}
          consequence={t("Sessions end and keys stop working at once, until you enable the user again.")}
          onConfirm={() => request(path, { method: "POST", body: { disabled: true } })}
          changes={[USERS, ACCESS]}
        >
          {t("Disable")}
        </ConfirmButton>
      )}
      <ConfirmButton
        question={t("Remove {{name}}?", { name: user.name })}
        consequence={t("The user's sessions end, and all keys of the user are revoked. Usage stays.")}
        onConfirm={async () => {
          await request(path, { method: "DELETE" });
          await navigate({ to: "/people" });
        }}
        changes={[USERS]}
      >
        {t("Remove")}
      </ConfirmButton>
      {may(session, "organization.users.data") && (
        <ConfirmButton
          question={t("Erase {{name}}?", { name: user.name })}
          consequence={t(
            "Everything that is stored of the user is deleted: account, keys, sessions, requests, responses and files. Sums of usage remain, under a pseudonym. This cannot be undone.",
          )}
          onConfirm={async () => {
            await request(`${path}/erase`, { method: "POST", body: {} });
            await navigate({ to: "/people" });
          }}
          changes={[USERS]}
        >
          {t("Erase")}
        </ConfirmButton>
      )}
      {link.data !== undefined && (
        <Dialog title={t("Password link")} onClose={link.reset} size="lg">
          <LinkOnce
            link={`${urlOf("")}#/password?token=${encodeURIComponent(link.data.token)}`}
            title={t("Send this link: it works once, within a day")}
          />
          <Group justify="flex-end" mt="md">
            <Button onClick={link.reset}>{t("Done")}</Button>
          </Group>
        </Dialog>
      )}
    </>
  );
}
