import { Badge, Button, Card, Group, Modal, Stack, Table } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { request } from "../../api/request.ts";
import { may, useSession } from "../../api/session.ts";
import { Empty } from "../../components/empty.tsx";
import { formatDate } from "../../components/format.ts";
import { NameForm } from "../../components/name-form.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { t } from "../../i18n/translate.ts";
import { IconPlus, IconUsers } from "../../icons.tsx";
import { GROUPS, groupsQuery } from "./people-queries.ts";

/** Groups of the organization. */
export function GroupsTab() {
  const session = useSession();
  const query = useQuery(groupsQuery);
  return (
    <Stack>
      {may(session, "organization.groups.write") && <NewGroup />}
      <QueryView query={query}>
        {(groups) => (
          <Card padding={0}>
            {groups.length === 0 ? (
              <Empty icon={<IconUsers />} title={t("No groups yet")}>
                {t("Members of a group have its roles. Groups of sign-on rules and of a directory appear here, too.")}
              </Empty>
            ) : (
              <Table.ScrollContainer minWidth={480} tabIndex={0}>
                <Table>
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>{t("Name")}</Table.Th>
                      <Table.Th>{t("Created")}</Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {groups.map((group) => (
                      <Table.Tr key={group.id}>
                        <Table.Td className="wrap-anywhere">
                          <Group gap="xs">
                            <Link to="/people/groups/$group" params={{ group: group.id }} className="link">
                              {group.name}
                            </Link>
                            {group.is_scim_managed && <Badge variant="light">{t("managed by SCIM")}</Badge>}
                          </Group>
                        </Table.Td>
                        <Table.Td className="nowrap">{formatDate(group.created_at)}</Table.Td>
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </Table.ScrollContainer>
            )}
          </Card>
        )}
      </QueryView>
    </Stack>
  );
}

function NewGroup() {
  const client = useQueryClient();
  const [isOpen, { open, close }] = useDisclosure(false);
  const create = async (name: string) => {
    await request("v1/organization/groups", { method: "POST", body: { name } });
    close();
    await client.invalidateQueries({ queryKey: GROUPS });
  };
  return (
    <Group justify="flex-end">
      <Button variant="default" leftSection={<IconPlus size={16} />} onClick={open}>
        {t("New group")}
      </Button>
      <Modal opened={isOpen} onClose={close} title={t("New group")}>
        <NameForm action={t("Create group")} save={create} />
      </Modal>
    </Group>
  );
}
