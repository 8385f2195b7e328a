import { Button, Group, SegmentedControl, Stack, TagsInput, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { request } from "../../api/request.ts";
import { QueryView } from "../../components/query-view.tsx";
import { useSave } from "../../components/use-save.ts";
import { msg, t } from "../../i18n/translate.ts";
import { type ModelPermissions, permissionsQuery } from "./projects-api.ts";

interface PermissionsFormProps {
  /** Path of the organization or project. */
  owner: string;
  kind: "organization" | "project";
  models: string[];
}

/** Which models an organization or a project may use. */
export function PermissionsForm(props: PermissionsFormProps) {
  const query = useQuery(permissionsQuery(props.owner));
  return <QueryView query={query}>{(permissions) => <Form {...props} permissions={permissions} />}</QueryView>;
}

/** The API shows no permissions as an empty list of denied models. */
function isUnset(permissions: ModelPermissions | null): permissions is null {
  return permissions === null || (permissions.mode === "deny_list" && permissions.model_ids.length === 0);
}

const EXPLANATIONS = {
  organization: {
    all: msg("Keys of the organization may use every model."),
    allow_list: msg("Keys of the organization may use only these models; for others they get a 404."),
    deny_list: msg("Keys of the organization may use every model except these."),
  },
  project: {
    all: msg("Keys of this project may use every model."),
    allow_list: msg("Keys of this project may use only these models; for others they get a 404."),
    deny_list: msg("Keys of this project may use every model except these."),
  },
} as const;
type PermissionMode = keyof (typeof EXPLANATIONS)["project"];

function Form({ owner, kind, permissions, models }: PermissionsFormProps & { permissions: ModelPermissions | null }) {
  const form = useForm({
    initialValues: {
      mode: (isUnset(permissions) ? "all" : permissions.mode) as PermissionMode,
      models: permissions?.model_ids ?? [],
    },
  });
  const path = `${owner}/model_permissions`;
  const save = useSave({
    save: ({ mode, models: ids }: typeof form.values) =>
      mode === "all"
        ? request(path, { method: "DELETE" })
        : request(path, { method: "POST", body: { mode, model_ids: ids } }),
    done: () => t("Model permissions saved"),
    changes: [permissionsQuery(owner).queryKey],
    form,
    fields: { model_ids: "models" },
  });
  const { mode } = form.values;
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack>
        <SegmentedControl
          aria-label={t("Permitted models")}
          data={[
            { value: "all", label: t("All models") },
            { value: "allow_list", label: t("Only these") },
            { value: "deny_list", label: t("All but these") },
          ]}
          {...form.getInputProps("mode")}
        />
        {mode !== "all" && (
          <TagsInput
            label={t("Models")}
            description={t("Ids, aliases, wildcards such as openai/*, or group:NAME for an access group.")}
            data={models}
            {...form.getInputProps("models")}
          />
        )}
        <Text size="sm" c="dimmed">
          {t(EXPLANATIONS[kind][mode])}
        </Text>
        <Group>
          <Button type="submit" loading={save.isPending} disabled={mode === "all" && isUnset(permissions)}>
            {t("Save permissions")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
