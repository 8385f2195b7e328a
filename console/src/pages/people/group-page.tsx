import { Alert, Stack, Text, TextInput, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import type { Answers } from "../../api/answers.ts";
import { ApiError, listAll, request } from "../../api/request.ts";
import { may, useSession } from "../../api/session.ts";
import { AddForm } from "../../components/add-form.tsx";
import { changeWithUndo } from "../../components/change-with-undo.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { Empty } from "../../components/empty.tsx";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { ResourceTable } from "../../components/resource-table.tsx";
import { t } from "../../i18n/translate.ts";
import { IconUsers } from "../../icons.tsx";
import { RenameButton } from "../projects/rename-button.tsx";
import { ACCESS } from "./access-table.tsx";
import { AssignedRoles } from "./assigned-roles.tsx";
import { GROUPS, type User } from "./people-queries.ts";

type ShownGroup = Answers["Group"];

const pathOf = (id: string) => `v1/organization/groups/${encodeURIComponent(id)}`;

/** One group: its members, and the roles that they have by it. */
export function GroupPage() {
  const { group: id } = useParams({ strict: false }) as { group: string };
  const query = useQuery({
    queryKey: [...GROUPS, id],
    queryFn: ({ signal }) => request<ShownGroup>(pathOf(id), { signal }),
  });
  return <QueryView query={query}>{(group) => <Details group={group} />}</QueryView>;
}

function Details({ group }: { group: ShownGroup }) {
  const session = useSession();
  const navigate = useNavigate();
  const mayWrite = may(session, "organization.groups.write");
  const mayChange = mayWrite && !group.is_scim_managed;
  const path = pathOf(group.id);
  return (
    <Page
      title={group.name}
      description={
        <>
          <Link to="/people" search={{ tab: "groups" } as never} className="link">
            {t("Groups")}
          </Link>{" "}
          / {group.id}
        </>
      }
      actions={
        mayChange && (
          <>
            <RenameButton
              title={t("Rename group")}
              name={group.name}
              rename={(name) => request(path, { method: "POST", body: { name } })}
              changes={[GROUPS]}
            />
            <ConfirmButton
              question={t("Delete {{name}}?", { name: group.name })}
              consequence={t("Its members lose the roles that they have by it.")}
              onConfirm={async () => {
                await request(path, { method: "DELETE" });
                await navigate({ to: "/people", search: { tab: "groups" } as never });
              }}
              changes={[GROUPS]}
            >
              {t("Delete")}
            </ConfirmButton>
          </>
        )
      }
    >
      {group.is_scim_managed && (
        <Alert color="gray" variant="light" title={t("A directory manages this group by SCIM")}>
          {t("Change its name and members there. Its roles are assigned here.")}
        </Alert>
      )}
      <Members group={group} mayChange={mayChange} />
      <AssignedRoles of="groups" id={group.id} mayWrite={mayWrite} />
    </Page>
  );
}

function Members({ group, mayChange }: { group: ShownGroup; mayChange: boolean }) {
  const path = `${pathOf(group.id)}/users`;
  const queryKey = ["group-users", group.id];
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => listAll<Answers["GroupUser"]>(path, { order: "asc" }, signal),
  });
  const changes = [queryKey, ACCESS];
  const remove = ({ id, name }: Answers["GroupUser"]) =>
    changeWithUndo({
      message: t("{{name}} removed", { name }),
      change: () => request(`${path}/${encodeURIComponent(id)}`, { method: "DELETE" }),
      undo: () => request(path, { method: "POST", body: { user_id: id } }),
      changes,
    });
  return (
    <Stack gap="xs">
      <Title order={2}>{t("Members")}</Title>
      {mayChange && (
        <AddForm
          action={t("Add")}
          initial={{ email: "" }}
          save={({ email }) => addMember(path, email)}
          changes={changes}
          parameters={{ user_id: "email" }}
        >
          {(form) => (
            <TextInput
              aria-label={t("E-mail address of a user")}
              placeholder="name@example.com"
              type="email"
              required
              miw={280}
              {...form.getInputProps("email")}
            />
          )}
        </AddForm>
      )}
      <ResourceTable
        query={query}
        rows={query.data}
        keyOf={({ id }) => id}
        minWidth={320}
        empty={<Empty icon={<IconUsers />} title={t("No members yet")} />}
        columns={[
          {
            label: t("Name"),
            className: "wrap-anywhere",
            cell: ({ id, name, email }) => (
              <>
                <Link to="/people/$user" params={{ user: id }} className="link">
                  {name}
                </Link>
                <Text size="xs" c="dimmed">
                  {email}
                </Text>
              </>
            ),
          },
        ]}
        actions={
          mayChange &&
          ((member) => (
            <ConfirmButton
              question={t("Remove {{name}} from {{group}}?", { name: member.name, group: group.name })}
              consequence={t("What the group allows is gone within a second.")}
              onConfirm={() => remove(member)}
            >
              {t("Remove")}
            </ConfirmButton>
          ))
        }
      />
    </Stack>
  );
}

async function addMember(path: string, email: string): Promise<unknown> {
  const [user] = await listAll<User>("v1/organization/users", { emails: [email] });
  if (user === undefined) {
    const message = t("No user has the address {{email}}. Invite the person first.", { email });
    throw new ApiError(404, message, null, "email");
  }
  return request(path, { method: "POST", body: { user_id: user.id } });
}
