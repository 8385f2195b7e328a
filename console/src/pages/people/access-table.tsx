import { Text } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { Empty } from "../../components/empty.tsx";
import { ResourceTable } from "../../components/resource-table.tsx";
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
    <ResourceTable
      query={query}
      rows={query.data?.roles}
      keyOf={({ role, project, group }) => `${role.id} ${project?.id} ${group?.id}`}
      minWidth={640}
      empty={<Empty icon={<IconShieldCheck />} title={t("No roles")} />}
      columns={[
        {
          label: t("Where"),
          className: "wrap-anywhere",
          cell: ({ project }) => project?.name ?? t("Organization"),
        },
        {
          label: t("Why"),
          cell: ({ role, group }) =>
            group === null ? (
              <Trans text="Role <b>{{role}}</b>" tags={{ b: <b /> }} values={{ role: role.name }} />
            ) : (
              <Trans
                text="Role <b>{{role}}</b> from the group <b>{{group}}</b>"
                tags={{ b: <b /> }}
                values={{ role: role.name, group: group.name }}
              />
            ),
        },
        { label: t("Allows"), maxWidth: 420, cell: ({ permissions }) => <Permissions names={permissions} /> },
      ]}
    />
  );
}

export function Permissions({ names }: { names: readonly string[] }) {
  return (
    <Text size="xs" c="dimmed">
      {names.join(", ") || t("Nothing by itself")}
    </Text>
  );
}
