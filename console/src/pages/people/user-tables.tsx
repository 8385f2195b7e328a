import { Badge, Group, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { may, useSession } from "../../api/session.ts";
import { useEntries } from "../../api/use-entries.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { Empty } from "../../components/empty.tsx";
import { formatAgo, formatDate } from "../../components/format.ts";
import { ResourceTable } from "../../components/resource-table.tsx";
import { t } from "../../i18n/translate.ts";
import { IconUsers } from "../../icons.tsx";
import { INVITES, USERS, type User } from "./people-queries.ts";

/** Users of the organization. */
export function UserTable() {
  const { query, entries } = useEntries<User>(USERS, "v1/organization/users", {});
  return (
    <ResourceTable
      query={query}
      rows={entries}
      keyOf={({ id }) => id}
      rowHeight={57}
      minWidth={640}
      empty={
        <Empty icon={<IconUsers />} title={t("No users yet")}>
          {t("Invite the first one. People of a configured provider appear here when they sign in.")}
        </Empty>
      }
      columns={[
        {
          label: t("Name"),
          className: "wrap-anywhere",
          cell: (user) => (
            <>
              <Link to="/people/$user" params={{ user: user.id }} className="link">
                {user.name}
              </Link>
              <Text size="xs" c="dimmed">
                {user.email}
              </Text>
            </>
          ),
        },
        {
          label: t("Role"),
          cell: ({ role, disabled_at }) => (
            <Group gap="xs">
              {role}
              {disabled_at !== null && <Badge color="gray">{t("disabled")}</Badge>}
            </Group>
          ),
        },
        {
          label: t("Projects"),
          className: "wrap-anywhere",
          cell: ({ projects }) => projects.data.map(({ name }) => name).join(", ") || "—",
        },
        {
          label: t("Last active"),
          className: "nowrap",
          cell: ({ last_active_at: time }) => (time === null ? t("Never") : formatAgo(time)),
        },
      ]}
    />
  );
}

/** Invites, open and accepted. */
export function InviteTable() {
  const { query, entries } = useEntries<Answers["Invite"]>(INVITES, "v1/organization/invites", {});
  const mayWrite = may(useSession(), "organization.users.write");
  return (
    <ResourceTable
      query={query}
      rows={entries}
      keyOf={({ id }) => id}
      rowHeight={44}
      minWidth={640}
      empty={<Empty icon={<IconUsers />} title={t("No invites yet")} />}
      columns={[
        { label: t("Address"), className: "wrap-anywhere", cell: ({ email }) => email },
        { label: t("Role"), cell: ({ role }) => role },
        { label: t("State"), cell: ({ status }) => status },
        { label: t("Expires"), className: "nowrap", cell: ({ expires_at }) => formatDate(expires_at) },
      ]}
      actions={({ id, email, status }) =>
        mayWrite &&
        status !== "accepted" && (
          <ConfirmButton
            question={t("Withdraw the invite of {{email}}?", { email })}
            consequence={t("Its link stops working.")}
            onConfirm={() => request(`v1/organization/invites/${encodeURIComponent(id)}`, { method: "DELETE" })}
            changes={[INVITES]}
          >
            {t("Withdraw")}
          </ConfirmButton>
        )
      }
    />
  );
}
