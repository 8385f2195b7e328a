import { Button, Card, Group, SegmentedControl, Select, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ModelEntry, modelsQuery } from "../../api/models.ts";
import { request, retrieveOrNull } from "../../api/request.ts";
import { useSession } from "../../api/session.ts";
import { notifyDone, notifyFailure } from "../../components/notify.ts";
import { QueryView } from "../../components/query-view.tsx";
import { pathOf } from "./projects-api.ts";

type Mode = "off" | "score" | "block";

interface Policy {
  model: string | null;
  policy: { input: { mode: Mode } | null; output: { mode: Mode } | null };
}

function policyQuery(project: string) {
  return queryOptions({
    queryKey: ["project", project, "moderation-policy"],
    queryFn: ({ signal }) => retrieveOrNull<Policy>(`${pathOf(project)}/moderation_policy`, signal),
  });
}

export function ModerationTab({ project }: { project: string }) {
  const query = useQuery(policyQuery(project));
  const { project: own } = useSession();
  const models = useQuery({ ...modelsQuery, enabled: own !== null });
  return (
    <Card maw={640}>
      <QueryView query={query}>
        {(policy) => <PolicyForm project={project} policy={policy} models={models.data ?? []} />}
      </QueryView>
    </Card>
  );
}

const MODES = [
  { value: "off", label: "Off" },
  { value: "score", label: "Score" },
  { value: "block", label: "Block" },
];

const INPUT: Readonly<Record<Mode, string>> = {
  off: "Messages reach the model unread.",
  score: "Answers carry the scores of their messages; nothing is refused.",
  block: "Flagged messages get a 400 and never reach the model.",
};
const OUTPUT: Readonly<Record<Mode, string>> = {
  off: "Answers are sent as the model writes them.",
  score: "Answers carry their scores; nothing is held back.",
  block: "Answers are held until they are moderated; flagged ones end as `content_filter`.",
};

interface PolicyFormProps {
  project: string;
  policy: Policy | null;
  models: readonly ModelEntry[];
}

function PolicyForm({ project, policy, models }: PolicyFormProps) {
  const client = useQueryClient();
  const form = useForm<{ input: Mode; output: Mode; model: string | null }>({
    initialValues: {
      input: policy?.policy.input?.mode ?? "off",
      output: policy?.policy.output?.mode ?? "off",
      model: policy?.model ?? null,
    },
  });
  const path = `${pathOf(project)}/moderation_policy`;
  const save = useMutation({
    mutationFn: ({ input, output, model }: typeof form.values) =>
      input === "off" && output === "off"
        ? request(path, { method: "DELETE" })
        : request(path, {
            method: "POST",
            body: {
              ...(model !== null && { model }),
              policy: {
                ...(input !== "off" && { input: { mode: input } }),
                ...(output !== "off" && { output: { mode: output } }),
              },
            },
          }),
    onSuccess: async () => {
      notifyDone("Moderation policy saved");
      await client.invalidateQueries({ queryKey: policyQuery(project).queryKey });
    },
    onError: notifyFailure,
  });
  const { input, output, model } = form.values;
  const known = models.filter(({ metadata }) => metadata.task === "moderation").map(({ id }) => id);
  const isOff = input === "off" && output === "off";
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack>
        <Direction label="Messages of the client" explanation={INPUT[input]} {...form.getInputProps("input")} />
        <Direction label="Answers of the model" explanation={OUTPUT[output]} {...form.getInputProps("output")} />
        <Select
          label="Moderation model"
          description="Without one, the default moderation model."
          placeholder="Default"
          clearable
          disabled={isOff}
          data={model === null || known.includes(model) ? known : [...known, model]}
          {...form.getInputProps("model")}
        />
        <Text size="sm" c="dimmed">
          Applies to every chat of this project from the next request on, whatever the request itself asks for.
        </Text>
        <Group>
          <Button type="submit" loading={save.isPending} disabled={isOff && policy === null}>
            Save moderation policy
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface DirectionProps {
  label: string;
  explanation: string;
  value?: Mode;
  onChange?: (value: string) => void;
}

function Direction({ label, explanation, value, onChange }: DirectionProps) {
  return (
    <div>
      <Text size="sm" fw={500} mb={4}>
        {label}
      </Text>
      <SegmentedControl
        aria-label={label}
        data={MODES}
        {...(value !== undefined && { value })}
        {...(onChange !== undefined && { onChange })}
      />
      <Text size="xs" c="dimmed" mt={4}>
        {explanation}
      </Text>
    </div>
  );
}
