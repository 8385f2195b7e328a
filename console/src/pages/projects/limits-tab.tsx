import { Button, Card, Group, NumberInput, Select, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/request.ts";
import { QueryView } from "../../components/query-view.tsx";
import { SpendForm } from "../../components/spend-form.tsx";
import { useSave } from "../../components/use-save.ts";
import { msg, t } from "../../i18n/translate.ts";
import { KeyRulesForm } from "./key-rules-form.tsx";
import { pathOf, type RateLimit, rateLimitsQuery, UNLIMITED } from "./projects-api.ts";

export function LimitsTab({ project }: { project: string }) {
  const rates = useQuery(rateLimitsQuery(project));
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Card>
        <Title order={2}>{t("Spend")}</Title>
        <SpendForm owner={pathOf(project)} name={t("This project")} />
      </Card>
      <Card>
        <Title order={2}>{t("Rates")}</Title>
        <QueryView query={rates}>{(limits) => <RateLimits project={project} limits={limits} />}</QueryView>
      </Card>
      <Card>
        <Title order={2}>{t("Keys of people")}</Title>
        <KeyRulesForm project={project} />
      </Card>
    </SimpleGrid>
  );
}

const FIELDS = [
  ["max_requests_per_1_minute", msg("Requests per minute")],
  ["max_requests_per_1_day", msg("Requests per day")],
  ["max_tokens_per_1_minute", msg("Tokens per minute")],
  ["max_audio_megabytes_per_1_minute", msg("Audio megabytes per minute")],
  ["max_images_per_1_minute", msg("Images per minute")],
  ["max_concurrent_requests", msg("Concurrent requests")],
] as const;

function RateLimits({ project, limits }: { project: string; limits: RateLimit[] }) {
  const [chosen, setChosen] = useState<string | null>(limits[0]?.id ?? null);
  const limit = limits.find(({ id }) => id === chosen);
  if (limits.length === 0) {
    return (
      <Text size="sm" c="dimmed" mt="sm">
        {t("The catalog has no models.")}
      </Text>
    );
  }
  return (
    <Stack mt="sm">
      <Select
        label={t("Model")}
        searchable
        allowDeselect={false}
        data={limits.map(({ id, model }) => ({ value: id, label: model }))}
        value={chosen}
        onChange={setChosen}
      />
      {limit !== undefined && <RateForm key={limit.id} project={project} limit={limit} />}
    </Stack>
  );
}

type RateValues = Record<(typeof FIELDS)[number][0], number | string>;

function RateForm({ project, limit }: { project: string; limit: RateLimit }) {
  const initialValues = Object.fromEntries(
    FIELDS.map(([name]) => [name, limit[name] === UNLIMITED ? "" : limit[name]]),
  ) as RateValues;
  const form = useForm<RateValues>({ initialValues });
  const save = useSave({
    save: (values: RateValues) => {
      const body = Object.fromEntries(
        FIELDS.map(([name]) => [name, typeof values[name] === "number" ? values[name] : UNLIMITED]),
      );
      return request(`${pathOf(project)}/rate_limits/${limit.id}`, { method: "POST", body });
    },
    done: () => t("Rate limits of {{model}} saved", { model: limit.model }),
    changes: [rateLimitsQuery(project).queryKey],
    form,
    fields: Object.fromEntries(FIELDS.map(([name]) => [name, name])),
  });
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack>
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          {FIELDS.map(([name, label]) => (
            <NumberInput
              key={name}
              label={t(label)}
              placeholder={t("Unlimited")}
              min={0}
              max={UNLIMITED}
              allowDecimal={false}
              thousandSeparator
              {...form.getInputProps(name)}
            />
          ))}
        </SimpleGrid>
        <Text size="sm" c="dimmed">
          {t("Requests above a limit get a 429 with the time to wait. Limits apply from the next request on.")}
        </Text>
        <Group>
          <Button type="submit" loading={save.isPending}>
            {t("Save rate limits")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
