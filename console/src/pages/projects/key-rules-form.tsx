import { Button, Group, NumberInput, Stack, TagsInput, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { queryOptions, useQuery } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { QueryView } from "../../components/query-view.tsx";
import { useSave } from "../../components/use-save.ts";
import { t } from "../../i18n/translate.ts";
import { pathOf, rateLimitsQuery } from "./projects-api.ts";

type KeyRules = Answers["KeyRules"];

const DAY_SECONDS = 86_400;
const MAX_KEYS = 1000;
const MAX_DAYS = 3650;

function keyRulesQuery(project: string) {
  return queryOptions({
    queryKey: ["project", project, "key-rules"],
    queryFn: ({ signal }) => request<KeyRules>(`${pathOf(project)}/key_rules`, { signal }),
  });
}

/** What the keys that people create in a project must keep. */
export function KeyRulesForm({ project }: { project: string }) {
  const query = useQuery(keyRulesQuery(project));
  return <QueryView query={query}>{(rules) => <Form project={project} rules={rules} />}</QueryView>;
}

function Form({ project, rules }: { project: string; rules: KeyRules }) {
  const models = useQuery(rateLimitsQuery(project)).data?.map(({ model }) => model) ?? [];
  const form = useForm<Record<"keys" | "days" | "dollars", number | string> & { models: string[] }>({
    initialValues: {
      keys: rules.max_keys_per_user ?? "",
      days: rules.max_lifetime_seconds === null ? "" : rules.max_lifetime_seconds / DAY_SECONDS,
      dollars: rules.max_spend_cents_per_month === null ? "" : rules.max_spend_cents_per_month / 100,
      models: rules.model_ids ?? [],
    },
  });
  const path = `${pathOf(project)}/key_rules`;
  const save = useSave({
    save: ({ keys, days, dollars, models: ids }: typeof form.values) => {
      const body = {
        max_keys_per_user: toNumber(keys),
        max_lifetime_seconds: toNumber(days, DAY_SECONDS),
        max_spend_cents_per_month: toNumber(dollars, 100),
        model_ids: ids.length === 0 ? null : ids,
      };
      const isEmpty = Object.values(body).every((value) => value === null);
      return request(path, isEmpty ? { method: "DELETE" } : { method: "POST", body });
    },
    done: () => t("Rules of keys saved"),
    changes: [keyRulesQuery(project).queryKey],
    onSaved: (_answer, values) => form.resetDirty(values),
    form,
    fields: {
      max_keys_per_user: "keys",
      max_lifetime_seconds: "days",
      max_spend_cents_per_month: "dollars",
      model_ids: "models",
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack mt="sm">
        <NumberInput
          label={t("Keys of each person")}
          placeholder={t("Unlimited")}
          min={1}
          max={MAX_KEYS}
          allowDecimal={false}
          {...form.getInputProps("keys")}
        />
        <NumberInput
          label={t("Days until a key expires")}
          description={t("Keys that live longer expire earlier from then on.")}
          placeholder={t("Unlimited")}
          min={1 / 24}
          max={MAX_DAYS}
          decimalScale={3}
          {...form.getInputProps("days")}
        />
        <NumberInput
          label={t("Spend of each key in a month, US dollars")}
          placeholder={t("No limit")}
          min={0.01}
          decimalScale={2}
          prefix="$"
          {...form.getInputProps("dollars")}
        />
        <TagsInput
          label={t("Models")}
          description={t("Ids, aliases, wildcards such as openai/*, or group:NAME for an access group.")}
          placeholder={form.values.models.length === 0 ? t("All models of the project") : ""}
          data={models}
          {...form.getInputProps("models")}
        />
        <Text size="sm" c="dimmed">
          {t("Keys of service accounts are free of these rules.")}
        </Text>
        <Group>
          <Button type="submit" loading={save.isPending} disabled={!form.isDirty()}>
            {t("Save rules")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** A field's number in smaller units; null for an empty field. */
function toNumber(value: number | string, factor = 1): number | null {
  return typeof value === "number" ? Math.round(value * factor) : null;
}
