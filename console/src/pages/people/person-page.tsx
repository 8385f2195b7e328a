import { Alert, Badge, Button, Group, Modal, NativeSelect, Stack, Title } from "@mantine/core";
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import type { Answers } from "../../api/answers.ts";
import { request, urlOf } from "../../api/request.ts";
import { may, useSession } from "../../api/session.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { t } from "../../i18n/translate.ts";
import { ACCESS, AccessTable } from "./access-table.tsx";
import { AssignedRoles } from "./assigned-roles.tsx";
import { LinkOnce } from "./link-once.tsx";
import { USERS } from "./people-page.tsx";

type User = Answers["User"];

const userQuery = (id: string) =>
  queryOptions({
    queryKey: [...USERS, id],
    queryFn: ({ signal }) => request<User>(pathOfUser(id), { signal }),
  });

const pathOfUser = (id: string) => `v1/organization/users/${encodeURIComponent(id)}`;

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
      <AssignedRoles of="users" id={user.id} mayWrite={mayWrite} />
    </Page>
  );
}

function Actions({ user }: { user: User }) {
  const session = useSession();
  const client = useQueryClient();
  const navigate = useNavigate();
  const path = pathOfUser(user.id);
  const change = useMutation({
    mutationFn: (body: { role?: string; disabled?: boolean }) => request(path, { method: "POST", body }),
    onSettled: () =>
      Promise.all([client.invalidateQueries({ queryKey: USERS }), client.invalidateQueries({ queryKey: ACCESS })]),
  });
  const link = useMutation({
    mutationFn: async () => {
      const { token } = await request<{ token: string }>(`${path}/password_link`, { method: "POST", body: {} });
      return `${urlOf("")}#/password?token=${encodeURIComponent(token)}`;
    },
  });
  const isDisabled = user.disabled_at !== null;
  return (
    <>
      <ErrorAlert error={change.error ?? link.error} />
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
          onConfirm={() => change.mutateAsync({ disabled: true })}
        >
          {t("Disable")}
        </ConfirmButton>
      )}
      <ConfirmButton
        question={t("Remove {{name}}?", { name: user.name })}
        consequence={t("The user's sessions end, and all keys of the user are revoked. Usage stays.")}
        onConfirm={async () => {
          await request(path, { method: "DELETE" });
          await client.invalidateQueries({ queryKey: USERS });
          await navigate({ to: "/people" });
        }}
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
            await client.invalidateQueries({ queryKey: USERS });
            await navigate({ to: "/people" });
          }}
        >
          {t("Erase")}
        </ConfirmButton>
      )}
      <Modal opened={link.data !== undefined} onClose={link.reset} title={t("Password link")} size="lg">
        {link.data !== undefined && (
          <LinkOnce link={link.data} title={t("Send this link: it works once, within a day")} onDone={link.reset} />
        )}
      </Modal>
    </>
  );
}
