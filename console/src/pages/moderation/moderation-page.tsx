import { Badge, Button, Card, Group, Select, Stack, Textarea } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type ModelEntry, modelsQuery } from "../../api/models.ts";
import { request } from "../../api/request.ts";
import { AsCode } from "../../components/as-code.tsx";
import { curlJson, PYTHON_CLIENT, TYPESCRIPT_CLIENT } from "../../components/code-text.ts";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { useAddressState } from "../../components/use-address-state.ts";
import { WithModels } from "../../components/with-models.tsx";
import { IconShieldCheck } from "../../icons.tsx";
import { ScoreTable } from "./score-table.tsx";

interface Moderation {
  results: { flagged: boolean; categories: Record<string, boolean>; category_scores: Record<string, number> }[];
}

export function ModerationPage() {
  return (
    <WithModels
      title="Moderation"
      description="Scores of a text, by category."
      task="moderation"
      icon={<IconShieldCheck />}
    >
      {(models) => <ModerationForm models={models} />}
    </WithModels>
  );
}

function ModerationForm({ models }: { models: ModelEntry[] }) {
  const [{ model }, setAddress] = useAddressState({ model: models[0]?.id ?? "" });
  const [input, setInput] = useState("");
  const client = useQueryClient();
  const moderate = useMutation({
    mutationFn: (judge: string) =>
      request<Moderation>("v1/moderations", { method: "POST", body: { model: judge, input } }),
    // The thresholds of a model are known once it is loaded.
    onSuccess: () => client.invalidateQueries({ queryKey: modelsQuery.queryKey }),
  });
  const judge = moderate.variables;
  const result = moderate.data?.results[0];
  return (
    <Card>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          moderate.mutate(model);
        }}
      >
        <Stack>
          <Textarea
            label="Text"
            autosize
            minRows={4}
            maxRows={14}
            value={input}
            onChange={(event) => setInput(event.currentTarget.value)}
          />
          <Group align="flex-end">
            <Select
              label="Model"
              data={models.map(({ id }) => id)}
              allowDeselect={false}
              value={model}
              onChange={(next) => setAddress({ model: next ?? model })}
            />
            <Button type="submit" loading={moderate.isPending} disabled={input.trim() === ""}>
              Moderate
            </Button>
            <AsCode samples={() => samples(model, input || "Hello")} />
          </Group>
          <ErrorAlert error={moderate.error} />
          {result !== undefined && (
            <div data-testid="moderation">
              <Badge color={result.flagged ? "red" : "teal"} variant="dot" tt="none" mb="xs">
                {result.flagged ? "Flagged" : "Not flagged"}
              </Badge>
              <ScoreTable
                scores={result.category_scores}
                flags={result.categories}
                thresholds={models.find(({ id }) => id === judge)?.metadata.thresholds ?? null}
              />
            </div>
          )}
        </Stack>
      </form>
    </Card>
  );
}

function samples(model: string, input: string) {
  const body = { model, input };
  return {
    curl: curlJson("moderations", body),
    python: `${PYTHON_CLIENT()}
moderation = client.moderations.create(model=${JSON.stringify(model)}, input=${JSON.stringify(input)})
print(moderation.results[0])
`,
    typescript: `${TYPESCRIPT_CLIENT()}
const moderation = await client.moderations.create(${JSON.stringify(body)});
console.log(moderation.results[0]);
`,
  };
}
