import { Badge, Button, Card, Group, Stack, Textarea } from "@mantine/core";
import { useState } from "react";
import type { Answers } from "../../api/answers.ts";
import { type ModelEntry, modelsQuery } from "../../api/models.ts";
import { request } from "../../api/request.ts";
import { AsCode } from "../../components/as-code.tsx";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { ExpectedResult } from "../../components/expected-result.tsx";
import { ModelSelect } from "../../components/model-select.tsx";
import { useAction } from "../../components/use-action.ts";
import { useAddressState } from "../../components/use-address-state.ts";
import { WithModels } from "../../components/with-models.tsx";
import { t } from "../../i18n/translate.ts";
import { IconShieldCheck } from "../../icons.tsx";
import { moderationSamples } from "./moderation-code.ts";
import { ScoreTable } from "./score-table.tsx";

export function ModerationPage() {
  return (
    <WithModels
      title={t("Moderation")}
      description={t("Scores of a text, by category.")}
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
  const moderate = useAction(
    (judge: string) =>
      request<Answers["Moderation"]>("v1/moderations", { method: "POST", body: { model: judge, input } }),
    // The thresholds of a model are known once it is loaded.
    { changes: [modelsQuery.queryKey] },
  );
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
            label={t("Text")}
            autosize
            minRows={4}
            maxRows={14}
            value={input}
            onChange={(event) => setInput(event.currentTarget.value)}
          />
          <Group align="flex-end">
            <ModelSelect models={models} value={model} onChange={(next) => setAddress({ model: next })} />
            <Button type="submit" loading={moderate.isPending} disabled={input.trim() === ""}>
              {t("Moderate")}
            </Button>
            <AsCode samples={() => moderationSamples(model, input || t("Hello"))} />
          </Group>
          <ErrorAlert error={moderate.error} />
          {result === undefined && (
            <ExpectedResult shape="bars">
              {t("The score of each category appears here, with the score from which it is flagged.")}
            </ExpectedResult>
          )}
          {result !== undefined && (
            <div data-testid="moderation">
              <Badge color={result.flagged ? "red" : "teal"} variant="dot" tt="none" mb="xs">
                {result.flagged ? t("Flagged") : t("Not flagged")}
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
