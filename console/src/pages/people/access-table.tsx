import { Card, Table, Text } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { Empty } from "../../components/empty.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { Trans } from "../../i18n/trans.tsx";
import { t } from "../../i18n/translate.ts";
import { IconShieldCheck } from "../../icons.tsx";

export const ACCESS = ["user-access"];

const accessQuery = (user: string) =>
  queryOptions({
    queryKey: [...ACCESS, user],
    queryFn: ({ signal }) =>
      request<Answers["UserAccess"]>(`v1/organization/users/${encodeURIComponent(user)}/access`, { signal }),
  });

/** What a user may do, and why: each role with the group that it comes from. */
export function AccessTable({ user }: { user: string }) {
  const query = useQuery(accessQuery(user));
  return (
    <QueryView query={query}>
      {({ roles }) => (
        <Card padding={0}>
          {roles.length === 0 ? (
            <Empty icon={<IconShieldCheck />} title={t("No roles")} />
          ) : (
            <Table.ScrollContainer minWidth={640} tabIndex={0}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>{t("Where")}</Table.Th>
                    <Table.Th>{t("Why")}</Table.Th>
                    <Table.Th>{t("Allows")}</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {roles.map(({ role, project, group, permissions }) => (
                    <Table.Tr key={`${role.id} ${project?.id} ${group?.id}`}>
                      <Table.Td className="wrap-anywhere">{project?.name ?? t("Organization")}</Table.Td>
                      <Table.Td>
                        <Text size="sm">
                          {group === null ? (
                            <Trans text="Role <b>{{role}}</b>" tags={{ b: <b /> }} values={{ role: role.name }} />
                          ) : (
                            <Trans
                              text="Role <b>{{role}}</b> from the group <b>{{group}}</b>"
                              tags={{ b: <b /> }}
                              values={{ role: role.name, group: group.name }}
                            />
                          )}
                        </Text>
                      </Table.Td>
                      <Table.Td maw={420}>
                        <Text size="xs" c="dimmed">
                          {permissions.length === 0 ? t("Nothing by itself") : permissions.join(", ")}
                        </Text>
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          )}
        </Card>
      )}
    </QueryView>
  );
}
