import { Badge, Card, Group, Stack, Table, Tabs, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { may, useSession } from "../../api/session.ts";
import { useEntries } from "../../api/use-entries.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { Empty } from "../../components/empty.tsx";
import { formatAgo, formatDate } from "../../components/format.ts";
import { Page } from "../../components/page.tsx";
import { PageError } from "../../components/page-error.tsx";
import { PageLoading } from "../../components/page-loading.tsx";
import { useAddressState } from "../../components/use-address-state.ts";
import { VirtualBody } from "../../components/virtual-body.tsx";
import { t } from "../../i18n/translate.ts";
import { IconUsers } from "../../icons.tsx";
import { FirstOwner } from "./first-owner.tsx";
import { GroupsTab } from "./groups-tab.tsx";
import { NewInvite } from "./new-invite.tsx";
import { RolesTab } from "./roles-tab.tsx";

type User = Answers["User"];
type Invite = Answers["Invite"];

export const USERS = ["users"];
export const INVITES = ["invites"];

/** Users and invites of the organization. */
export function PeoplePage() {
  const session = useSession();
  const [{ tab }, setAddress] = useAddressState({ tab: "users" });
  return (
    <Page
      title={t("People")}
      description={t("Who signs in, who is invited, and what groups and roles allow.")}
      actions={may(session, "organization.users.write") && <NewInvite />}
    >
      {session.needs_owner && <FirstOwner />}
      <Tabs value={tab} onChange={(next) => setAddress({ tab: next ?? "users" })} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="users">{t("Users")}</Tabs.Tab>
          <Tabs.Tab value="invites">{t("Invites")}</Tabs.Tab>
          {may(session, "organization.groups.read") && <Tabs.Tab value="groups">{t("Groups")}</Tabs.Tab>}
          {may(session, "organization.roles.read") && <Tabs.Tab value="roles">{t("Roles")}</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="users">
          <UserTable />
        </Tabs.Panel>
        <Tabs.Panel value="invites">
          <InviteTable />
        </Tabs.Panel>
        <Tabs.Panel value="groups">
          <GroupsTab />
        </Tabs.Panel>
        <Tabs.Panel value="roles">
          <RolesTab />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function UserTable() {
  const { query, entries, readMore } = useEntries<User>(USERS, "v1/organization/users", {});
  return (
    <Stack>
      {query.error !== null && <PageError error={query.error} reset={() => void query.refetch()} />}
      {query.isPending && <PageLoading shape="table" />}
      {entries !== undefined && (
        <Card padding={0}>
          {entries.length === 0 ? (
            <Empty icon={<IconUsers />} title={t("No users yet")}>
              {t("Invite the first one. People of a configured provider appear here when they sign in.")}
            </Empty>
          ) : (
            <Table.ScrollContainer minWidth={640} tabIndex={0}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>{t("Name")}</Table.Th>
                    <Table.Th>{t("Role")}</Table.Th>
                    <Table.Th>{t("Projects")}</Table.Th>
                    <Table.Th>{t("Last active")}</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <VirtualBody rows={entries} columns={4} rowHeight={57} keyOf={({ id }) => id} onNearEnd={readMore}>
                  {(user) => (
                    <>
                      <Table.Td className="wrap-anywhere">
                        <Link to="/people/$user" params={{ user: user.id }} className="link">
                          {user.name}
                        </Link>
                        <Text size="xs" c="dimmed">
                          {user.email}
                        </Text>
                      </Table.Td>
                      <Table.Td>
                        <Group gap="xs">
                          {user.role}
                          {user.disabled_at !== null && <Badge color="gray">{t("disabled")}</Badge>}
                        </Group>
                      </Table.Td>
                      <Table.Td className="wrap-anywhere">
                        {user.projects.data.map(({ name }) => name).join(", ") || "—"}
                      </Table.Td>
                      <Table.Td className="nowrap">
                        {user.last_active_at === null ? t("Never") : formatAgo(user.last_active_at)}
                      </Table.Td>
                    </>
                  )}
                </VirtualBody>
              </Table>
            </Table.ScrollContainer>
          )}
        </Card>
      )}
    </Stack>
  );
}

function InviteTable() {
  const client = useQueryClient();
  const session = useSession();
  const { query, entries, readMore } = useEntries<Invite>(INVITES, "v1/organization/invites", {});
  const mayWrite = may(session, "organization.users.write");
  return (
    <Stack>
      {query.error !== null && <PageError error={query.error} reset={() => void query.refetch()} />}
      {query.isPending && <PageLoading shape="table" />}
      {entries !== undefined && (
        <Card padding={0}>
          {entries.length === 0 ? (
            <Empty icon={<IconUsers />} title={t("No invites yet")} />
          ) : (
            <Table.ScrollContainer minWidth={640} tabIndex={0}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>{t("Address")}</Table.Th>
                    <Table.Th>{t("Role")}</Table.Th>
                    <Table.Th>{t("State")}</Table.Th>
                    <Table.Th>{t("Expires")}</Table.Th>
                    <Table.Th ta="right">{t("Actions")}</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <VirtualBody rows={entries} columns={5} rowHeight={44} keyOf={({ id }) => id} onNearEnd={readMore}>
                  {(invite) => (
                    <>
                      <Table.Td className="wrap-anywhere">{invite.email}</Table.Td>
                      <Table.Td>{invite.role}</Table.Td>
                      <Table.Td>{invite.status}</Table.Td>
                      <Table.Td className="nowrap">{formatDate(invite.expires_at)}</Table.Td>
                      <Table.Td ta="right">
                        {mayWrite && invite.status !== "accepted" && (
                          <ConfirmButton
                            question={t("Withdraw the invite of {{email}}?", { email: invite.email })}
                            consequence={t("Its link stops working.")}
                            onConfirm={async () => {
                              const path = `v1/organization/invites/${encodeURIComponent(invite.id)}`;
                              await request(path, { method: "DELETE" });
                              await client.invalidateQueries({ queryKey: INVITES });
                            }}
                          >
                            {t("Withdraw")}
                          </ConfirmButton>
                        )}
                      </Table.Td>
                    </>
                  )}
                </VirtualBody>
              </Table>
            </Table.ScrollContainer>
          )}
        </Card>
      )}
    </Stack>
  );
}
