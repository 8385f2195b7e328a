import { Button, Group, NativeSelect, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Answers } from "../../api/answers.ts";
import { listAll, request } from "../../api/request.ts";
import { changeWithUndo } from "../../components/change-with-undo.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { ResourceTable } from "../../components/resource-table.tsx";
import { useSave } from "../../components/use-save.ts";
import { t } from "../../i18n/translate.ts";
import { ACCESS, Permissions } from "./access-table.tsx";
import { rolesQuery, USERS } from "./people-queries.ts";

type AssignedRole = Answers["AssignedRole"];

interface AssignedRolesProps {
  of: "users" | "groups";
  id: string;
  mayWrite: boolean;
}

/** Roles that a user or group has in the organization, to assign and to take away. */
export function AssignedRoles({ of, id, mayWrite }: AssignedRolesProps) {
  const path = `v1/organization/${of}/${encodeURIComponent(id)}/roles`;
  const queryKey = ["assigned-roles", of, id];
  const query = useQuery({ queryKey, queryFn: ({ signal }) => listAll<AssignedRole>(path, {}, signal) });
  const changes = [queryKey, ACCESS, USERS];
  const takeAway = ({ id: role, name }: AssignedRole) =>
    changeWithUndo({
      message: t("Role {{name}} taken away", { name }),
      change: () => request(`${path}/${encodeURIComponent(role)}`, { method: "DELETE" }),
      undo: () => request(path, { method: "POST", body: { role_id: role } }),
      changes,
    });
  return (
    <Stack gap="xs">
      <Title order={2}>{t("Roles in the organization")}</Title>
      <ResourceTable
        query={query}
        rows={query.data}
        keyOf={(role) => role.id}
        empty={
          <Text size="sm" c="dimmed" p="md">
            {t("None. Roles in projects are on the pages of the projects.")}
          </Text>
        }
        columns={[
          { label: t("Role"), className: "wrap-anywhere", cell: ({ name }) => name },
          { label: t("Allows"), cell: ({ permissions }) => <Permissions names={permissions} /> },
        ]}
        actions={
          mayWrite &&
          ((role) =>
            isAssigned(role, id) &&
            !(of === "users" && role.predefined_role) && (
              <ConfirmButton
                question={t("Take the role {{name}} away?", { name: role.name })}
                consequence={t("What it allows is gone within a second.")}
                onConfirm={() => takeAway(role)}
              >
                {t("Take away")}
              </ConfirmButton>
            ))
        }
      />
      {mayWrite && query.data !== undefined && (
        <Assign path={path} taken={query.data.map((role) => role.id)} of={of} changes={changes} />
      )}
    </Stack>
  );
}

/** Roles from groups can only be taken from the group. */
function isAssigned({ assignment_sources: sources }: AssignedRole, id: string): boolean {
  return sources.length === 0 || sources.some(({ principal_id }) => principal_id === id);
}

interface AssignProps {
  path: string;
  taken: readonly string[];
  of: "users" | "groups";
  changes: readonly string[][];
}

function Assign({ path, taken, of, changes }: AssignProps) {
  const roles = useQuery(rolesQuery());
  const [chosen, setChosen] = useState("");
  const assign = useSave({
    save: (role: string) => request(path, { method: "POST", body: { role_id: role } }),
    changes,
    onSaved: () => setChosen(""),
    isShown: true,
  });
  // A user has one built-in role, which the page's head changes.
  const free = (roles.data ?? []).filter(
    ({ id, predefined_role }) => !taken.includes(id) && !(of === "users" && predefined_role),
  );
  if (free.length === 0) return null;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen !== "") assign.mutate(chosen);
      }}
    >
      <ErrorAlert error={assign.problem} />
      <Group>
        <NativeSelect
          aria-label={t("Role to assign")}
          value={chosen}
          data={[{ value: "", label: t("Choose a role") }, ...free.map(({ id, name }) => ({ value: id, label: name }))]}
          onChange={(event) => setChosen(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" disabled={chosen === ""} loading={assign.isPending}>
          {t("Assign")}
        </Button>
      </Group>
    </form>
  );
}
