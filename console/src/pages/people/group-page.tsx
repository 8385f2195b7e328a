import { Alert, Button, Card, Group, Stack, Table, Text, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import type { Answers } from "../../api/answers.ts";
import { ApiError, listAll, request } from "../../api/request.ts";
import { may, useSession } from "../../api/session.ts";
import { changeWithUndo } from "../../components/change-with-undo.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { Empty } from "../../components/empty.tsx";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { t } from "../../i18n/translate.ts";
import { IconUsers } from "../../icons.tsx";
import { RenameButton } from "../projects/rename-button.tsx";
import { ACCESS } from "./access-table.tsx";
import { AssignedRoles } from "./assigned-roles.tsx";
import { GROUPS } from "./people-queries.ts";

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
  const client = useQueryClient();
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
              onRenamed={() => client.invalidateQueries({ queryKey: GROUPS })}
            />
            <ConfirmButton
              question={t("Delete {{name}}?", { name: group.name })}
              consequence={t("Its members lose the roles that they have by it.")}
              onConfirm={async () => {
                await request(path, { method: "DELETE" });
                await navigate({ to: "/people", search: { tab: "groups" } as never });
                await client.invalidateQueries({ queryKey: GROUPS });
              }}
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
  const client = useQueryClient();
  const path = `${pathOf(group.id)}/users`;
  const queryKey = ["group-users", group.id];
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => listAll<Answers["GroupUser"]>(path, { order: "asc" }, signal),
  });
  const refresh = () => Promise.all([queryKey, ACCESS].map((each) => client.invalidateQueries({ queryKey: each })));
  return (
    <Stack gap="xs">
      <Title order={2}>{t("Members")}</Title>
      {mayChange && <AddMember path={path} onAdded={refresh} />}
      <QueryView query={query}>
        {(users) => (
          <Card padding={0}>
            {users.length === 0 ? (
              <Empty icon={<IconUsers />} title={t("No members yet")} />
            ) : (
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>{t("Name")}</Table.Th>
                    {mayChange && <Table.Th ta="right">{t("Actions")}</Table.Th>}
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {users.map(({ id, name, email }) => (
                    <Table.Tr key={id}>
                      <Table.Td className="wrap-anywhere">
                        <Link to="/people/$user" params={{ user: id }} className="link">
                          {name}
                        </Link>
                        <Text size="xs" c="dimmed">
                          {email}
                        </Text>
                      </Table.Td>
                      {mayChange && (
                        <Table.Td ta="right">
                          <ConfirmButton
                            question={t("Remove {{name}} from {{group}}?", { name, group: group.name })}
                            consequence={t("What the group allows is gone within a second.")}
                            onConfirm={() =>
                              changeWithUndo({
                                message: t("{{name}} removed", { name }),
                                change: () => request(`${path}/${encodeURIComponent(id)}`, { method: "DELETE" }),
                                undo: () => request(path, { method: "POST", body: { user_id: id } }),
                                refresh,
                              })
                            }
                          >
                            {t("Remove")}
                          </ConfirmButton>
                        </Table.Td>
                      )}
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            )}
          </Card>
        )}
      </QueryView>
    </Stack>
  );
}

function AddMember({ path, onAdded }: { path: string; onAdded: () => Promise<unknown> }) {
  const form = useForm({ initialValues: { email: "" } });
  const add = useMutation({
    mutationFn: async ({ email }: typeof form.values) => {
      const [user] = await listAll<Answers["User"]>("v1/organization/users", { emails: [email] });
      if (user === undefined)
        throw new ApiError(404, t("No user has the address {{email}}. Invite the person first.", { email }));
      await request(path, { method: "POST", body: { user_id: user.id } });
    },
    onSuccess: async () => {
      form.reset();
      await onAdded();
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => add.mutate(values))}>
      <Group align="flex-start">
        <TextInput
          aria-label={t("E-mail address of a user")}
          placeholder="name@example.com"
          type="email"
          required
          miw={280}
          {...form.getInputProps("email")}
          error={add.error?.message}
        />
        <Button type="submit" variant="default" loading={add.isPending}>
          {t("Add")}
        </Button>
      </Group>
    </form>
  );
}
