import { Button, Card, Group, SegmentedControl, Stack, TagsInput, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { request } from "../../api/request.ts";
import { notifyDone, notifyFailure } from "../../components/notify.ts";
import { QueryView } from "../../components/query-view.tsx";
import { type ModelPermissions, pathOf, permissionsQuery, rateLimitsQuery } from "./projects-api.ts";

export function ModelsTab({ project }: { project: string }) {
  const query = useQuery(permissionsQuery(project));
  const limits = useQuery(rateLimitsQuery(project));
  const models = limits.data?.map(({ model }) => model) ?? [];
  return (
    <Card maw={640}>
      <QueryView query={query}>
        {(permissions) => <PermissionsForm project={project} permissions={permissions} models={models} />}
      </QueryView>
    </Card>
  );
}

interface PermissionsFormProps {
  project: string;
  permissions: ModelPermissions | null;
  models: string[];
}

const EXPLANATIONS: Readonly<Record<string, string>> = {
  all: "Keys of this project may use every model of the organization.",
  allow_list: "Keys of this project may use only these models; for others they get a 404.",
  deny_list: "Keys of this project may use every model except these.",
};

function PermissionsForm({ project, permissions, models }: PermissionsFormProps) {
  const client = useQueryClient();
  const form = useForm({
    initialValues: { mode: permissions?.mode ?? "all", models: permissions?.model_ids ?? [] },
  });
  const path = `${pathOf(project)}/model_permissions`;
  const save = useMutation({
    mutationFn: ({ mode, models: ids }: typeof form.values) =>
      mode === "all"
        ? request(path, { method: "DELETE" })
        : request(path, { method: "POST", body: { mode, model_ids: ids } }),
    onSuccess: async () => {
      notifyDone("Model permissions saved");
      await client.invalidateQueries({ queryKey: permissionsQuery(project).queryKey });
    },
    onError: notifyFailure,
  });
  const { mode } = form.values;
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack>
        <SegmentedControl
          aria-label="Permitted models"
          data={[
            { value: "all", label: "All models" },
            { value: "allow_list", label: "Only these" },
            { value: "deny_list", label: "All but these" },
          ]}
          {...form.getInputProps("mode")}
        />
        {mode !== "all" && (
          <TagsInput
            label="Models"
            description="Ids, aliases, wildcards such as openai/*, or group:NAME for an access group."
            data={models}
            {...form.getInputProps("models")}
          />
        )}
        <Text size="sm" c="dimmed">
          {EXPLANATIONS[mode]}
        </Text>
        <Group>
          <Button type="submit" loading={save.isPending} disabled={mode === "all" && permissions === null}>
            Save permissions
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
