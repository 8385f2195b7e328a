import {
  Button,
  Card,
  Checkbox,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { TASK_NAMES } from "../../components/task-names.ts";
import { msg, t } from "../../i18n/translate.ts";
import { IconPlus } from "../../icons.tsx";
import { entriesQuery } from "./connections-api.ts";
import { DeploymentFields } from "./deployment-fields.tsx";
import { type ModelValue, perMillion, withPrice } from "./model-value.ts";

export interface ModelFormValues {
  value: ModelValue;
  /** JSON or YAML under Advanced; undefined: the fields count. */
  text: string | undefined;
}

export interface ModelFieldsProps {
  form: UseFormReturnType<ModelFormValues>;
  isNew: boolean;
}

const STRATEGIES = [
  { value: "ordered", label: msg("The first that works") },
  { value: "weighted", label: msg("By weight") },
  { value: "least_busy", label: msg("The least busy") },
  { value: "power_of_two_choices", label: msg("The less busy of two") },
  { value: "lowest_latency", label: msg("The fastest") },
  { value: "lowest_cost", label: msg("The cheapest") },
];

const PRICES = [
  { value: "prompt", label: msg("$ / million in") },
  { value: "completion", label: msg("$ / million out") },
  { value: "cached_prompt", label: msg("$ / million in, from a cache") },
];

const GUARDRAILS = [
  { value: "pii", label: msg("Personal data") },
  { value: "secrets", label: msg("Keys, passwords and connection strings") },
  { value: "injection", label: msg("Prompt injections") },
];

/** Fields of a model under Form. */
export function ModelFields({ form, isNew }: ModelFieldsProps) {
  const { value } = form.values;
  const { data: entries = [] } = useQuery(entriesQuery);
  const models = entries.filter(({ kind, name }) => kind === "model" && name !== value.id).map(({ name }) => name);
  const connections = entries.filter(({ kind }) => kind === "connection").map(({ name }) => name);
  const set = (change: Partial<ModelValue>) => {
    form.setFieldValue("value", { ...value, ...change });
    for (const name of Object.keys(change)) form.clearFieldError(name);
  };
  const { errors } = form;
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TextInput
          label={t("ID for clients")}
          required
          disabled={!isNew}
          data-path="id"
          error={errors.id}
          value={value.id}
          onChange={(event) => set({ id: event.currentTarget.value })}
        />
        <Select
          label={t("Task")}
          allowDeselect={false}
          error={errors.task}
          data={Object.entries(TASK_NAMES).map(([task, name]) => ({ value: task, label: t(name) }))}
          value={value.task ?? null}
          onChange={(task) => set({ task: task ?? "chat" })}
        />
        <TagsInput
          label={t("Aliases")}
          description={t("Other IDs that clients may send.")}
          error={errors.aliases}
          value={[...(value.aliases ?? [])]}
          onChange={(aliases) => set({ aliases })}
        />
        <TagsInput
          label={t("Fallbacks")}
          description={t("Models that are tried when this one is not available.")}
          error={errors.fallbacks}
          data={models}
          value={(value.fallbacks ?? []).map((each) => (typeof each === "string" ? each : each.model))}
          onChange={(ids) => set({ fallbacks: ids.map((id) => fallbackOf(value, id)) })}
        />
      </SimpleGrid>
      <Section title={t("Deployments")}>
        {errors.deployments && (
          <Text size="sm" c="var(--mantine-color-error)">
            {errors.deployments}
          </Text>
        )}
        {(value.deployments ?? []).map((deployment, index, all) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: deployments have no names
          <Card key={index} padding="sm">
            <DeploymentFields
              deployment={deployment}
              number={index + 1}
              connections={connections}
              hasAbilities={value.task === "chat"}
              onChange={(next) => set({ deployments: all.with(index, next) })}
              onRemove={all.length === 1 ? undefined : () => set({ deployments: all.toSpliced(index, 1) })}
            />
          </Card>
        ))}
        <Group justify="space-between" align="flex-end">
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} />}
            onClick={() => set({ deployments: [...(value.deployments ?? []), {}] })}
          >
            {t("Add a deployment")}
          </Button>
          {(value.deployments?.length ?? 0) > 1 && (
            <Select
              label={t("Which one answers")}
              size="xs"
              allowDeselect={false}
              data={STRATEGIES.map((each) => ({ value: each.value, label: t(each.label) }))}
              value={value.strategy ?? "ordered"}
              onChange={(strategy) => set({ strategy: strategy ?? "ordered" })}
            />
          )}
        </Group>
      </Section>
      <Section title={t("Price")}>
        <SimpleGrid cols={{ base: 1, sm: 3 }}>
          {PRICES.map(({ value: unit, label }) => (
            <PriceField key={unit} form={form} unit={unit} label={t(label)} />
          ))}
        </SimpleGrid>
      </Section>
      <Section title={t("Cache and guardrails")}>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <NumberInput
            label={t("Repeat equal answers for seconds")}
            description={t("Empty: answers are not cached.")}
            min={1}
            error={errors.cache}
            value={(value.cache?.ttl_seconds as number | undefined) ?? ""}
            onChange={(seconds) =>
              set({ cache: typeof seconds === "number" ? { ...value.cache, ttl_seconds: seconds } : {} })
            }
          />
          <Checkbox.Group
            label={t("Mask in requests")}
            error={errors.guardrails}
            value={(value.guardrails ?? []).map(({ type }) => String(type))}
            onChange={(types) => set({ guardrails: types.map((type) => guardrailOf(value, type)) })}
          >
            <Stack gap={6} mt={6}>
              {GUARDRAILS.map((each) => (
                <Checkbox key={each.value} size="xs" value={each.value} label={t(each.label)} />
              ))}
            </Stack>
          </Checkbox.Group>
        </SimpleGrid>
      </Section>
      <Section title={t("Limits")}>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <NumberInput
            label={t("Requests that may wait for a slot")}
            placeholder="100"
            min={0}
            error={errors.max_queue}
            value={value.max_queue ?? ""}
            onChange={(next) => set({ max_queue: typeof next === "number" ? next : (undefined as never) })}
          />
          <NumberInput
            label={t("Retries before the first token")}
            placeholder="2"
            min={0}
            error={errors.retries}
            value={value.retries ?? ""}
            onChange={(next) => set({ retries: typeof next === "number" ? next : (undefined as never) })}
          />
        </SimpleGrid>
      </Section>
    </Stack>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack gap="xs" component="section" aria-label={title}>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      {children}
    </Stack>
  );
}

interface PriceFieldProps {
  form: UseFormReturnType<ModelFormValues>;
  unit: string;
  label: string;
}

function PriceField({ form, unit, label }: PriceFieldProps) {
  const { value } = form.values;
  const [typed, setTyped] = useState(() => perMillion(value.price?.[unit]));
  const isWrong = withPrice(value, unit, typed) === undefined;
  return (
    <TextInput
      label={label}
      placeholder={t("No price")}
      error={isWrong ? t("A number, such as 0.15") : form.errors.price}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        const next = withPrice(value, unit, event.currentTarget.value);
        if (next !== undefined) form.setFieldValue("value", next);
      }}
    />
  );
}

/** A fallback as it was, with its condition, or a new one. */
function fallbackOf({ fallbacks = [] }: ModelValue, id: string) {
  return fallbacks.find((each) => (typeof each === "string" ? each : each.model) === id) ?? id;
}

/** A guardrail as it was, with its settings, or a new one that masks or blocks. */
function guardrailOf({ guardrails = [] }: ModelValue, type: string) {
  return guardrails.find((each) => each.type === type) ?? { type, action: type === "injection" ? "block" : "mask" };
}
