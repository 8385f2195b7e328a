import { Badge, Group, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { request } from "../../api/request.ts";
import { may, useSession } from "../../api/session.ts";
import { DialogButton } from "../../components/dialog-button.tsx";
import { Empty } from "../../components/empty.tsx";
import { formatDate } from "../../components/format.ts";
import { NameDialog } from "../../components/name-dialog.tsx";
import { ResourceTable } from "../../components/resource-table.tsx";
import { t } from "../../i18n/translate.ts";
import { IconPlus, IconUsers } from "../../icons.tsx";
import { GROUPS, groupsQuery } from "./people-queries.ts";

/** Groups of the organization. */
export function GroupsTab() {
  const session = useSession();
  const query = useQuery(groupsQuery);
  return (
    <Stack>
      {may(session, "organization.groups.write") && (
        <Group justify="flex-end">
          <DialogButton label={t("New group")} variant="default" leftSection={<IconPlus size={16} />}>
            {(close) => (
              <NameDialog
                title={t("New group")}
                action={t("Create group")}
                save={(name) => request("v1/organization/groups", { method: "POST", body: { name } })}
                changes={[GROUPS]}
                onClose={close}
              />
            )}
          </DialogButton>
        </Group>
      )}
      <ResourceTable
        query={query}
        rows={query.data}
        keyOf={({ id }) => id}
        empty={
          <Empty icon={<IconUsers />} title={t("No groups yet")}>
            {t("Members of a group have its roles. Groups of sign-on rules and of a directory appear here, too.")}
          </Empty>
        }
        columns={[
          {
            label: t("Name"),
            className: "wrap-anywhere",
            sortBy: ({ name }) => name,
            cell: (group) => (
              <Group gap="xs">
                <Link to="/people/groups/$group" params={{ group: group.id }} className="link">
                  {group.name}
                </Link>
                {group.is_scim_managed && <Badge variant="light">{t("managed by SCIM")}</Badge>}
              </Group>
            ),
          },
          {
            label: t("Created"),
            className: "nowrap",
            sortBy: ({ created_at: time }) => time,
            cell: ({ created_at: time }) => formatDate(time),
          },
        ]}
      />
    </Stack>
  );
}
