import { Button, Checkbox, Group, SimpleGrid, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { t } from "../../i18n/translate.ts";
import { ACCESS } from "./access-table.tsx";
import { ROLES } from "./people-queries.ts";

interface RoleFormProps {
  /** Undefined: a new one. */
  role: Answers["Role"] | undefined;
  /** All permissions that a role can have. */
  permissions: readonly string[];
  path: string;
  onSaved: () => void;
}

/** Name and permissions of a custom role. */
export function RoleForm({ role, permissions, path, onSaved }: RoleFormProps) {
  const client = useQueryClient();
  const form = useForm({
    initialValues: {
      name: role?.name ?? "",
      description: role?.description ?? "",
      permissions: role?.permissions ?? [],
    },
  });
  const save = useMutation({
    mutationFn: ({ name, description, permissions: chosen }: typeof form.values) =>
      request(role === undefined ? path : `${path}/${encodeURIComponent(role.id)}`, {
        method: "POST",
        body: { role_name: name, description, permissions: chosen },
      }),
    onSuccess: async () => {
      onSaved();
      await Promise.all([ROLES, ACCESS].map((queryKey) => client.invalidateQueries({ queryKey })));
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack>
        <ErrorAlert error={save.error} />
        <TextInput label={t("Name")} data-autofocus required {...form.getInputProps("name")} />
        <TextInput label={t("Description")} {...form.getInputProps("description")} />
        <Checkbox.Group label={t("Permissions")} {...form.getInputProps("permissions")}>
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing={6} mt="xs">
            {permissions.map((permission) => (
              <Checkbox key={permission} value={permission} label={permission} size="xs" />
            ))}
          </SimpleGrid>
        </Checkbox.Group>
        <Group justify="flex-end">
          <Button type="submit" loading={save.isPending}>
            {role === undefined ? t("Create role") : t("Save")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
