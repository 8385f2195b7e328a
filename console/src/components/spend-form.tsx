import { Button, Group, NumberInput, Switch, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { queryOptions, useQuery } from "@tanstack/react-query";
import type { Answers } from "../api/answers.ts";
import { request, retrieveOrNull } from "../api/request.ts";
import { t } from "../i18n/translate.ts";
import { FieldForm } from "./field-form.tsx";
import { formatCost } from "./format.ts";
import { QueryView } from "./query-view.tsx";
import { useSave } from "./use-save.ts";

/** Form for the spend limit of the organization, a project or a key. */
export type SpendLimit = Pick<Answers["OrganizationSpendLimit"], "threshold_amount" | "enforcement">;

interface SpendFormProps {
  /** Path of the owner: the organization, a project or a key. */
  owner: string;
  /** The owner in a sentence. */
  name: string;
  onSaved?: () => void;
}

export function spendLimitQuery(owner: string) {
  return queryOptions({
    queryKey: ["spend-limit", owner],
    queryFn: ({ signal }) => retrieveOrNull<SpendLimit>(`${owner}/spend_limit`, signal),
  });
}

/** Monthly spend limit of an organization, a project or a key. */
export function SpendForm(props: SpendFormProps) {
  const query = useQuery(spendLimitQuery(props.owner));
  return <QueryView query={query}>{(limit) => <Form {...props} limit={limit} />}</QueryView>;
}

function Form({ owner, name, limit, onSaved }: SpendFormProps & { limit: SpendLimit | null }) {
  const form = useForm<{ dollars: number | string; isEnforced: boolean }>({
    initialValues: {
      dollars: limit === null ? "" : limit.threshold_amount / 100,
      isEnforced: limit?.enforcement?.status !== "inactive",
    },
  });
  const path = `${owner}/spend_limit`;
  const save = useSave({
    save: ({ dollars, isEnforced }: typeof form.values) =>
      typeof dollars === "number"
        ? request(path, {
            method: "POST",
            body: {
              currency: "USD",
              interval: "month",
              threshold_amount: Math.round(dollars * 100),
              enforcement: { status: isEnforced ? "enforcing" : "inactive" },
            },
          })
        : request(path, { method: "DELETE" }),
    done: ({ dollars }) => (typeof dollars === "number" ? t("Spend limit saved") : t("Spend limit removed")),
    changes: [spendLimitQuery(owner).queryKey, ["first-steps"]],
    onSaved,
    form,
    fields: { threshold_amount: "dollars" },
  });
  const { dollars, isEnforced } = form.values;
  return (
    <FieldForm form={form} saving={save}>
      <NumberInput
        label={t("Limit per calendar month (UTC), US dollars")}
        placeholder={t("No limit")}
        min={0.01}
        decimalScale={2}
        prefix="$"
        {...form.getInputProps("dollars")}
      />
      <Switch label={t("Refuse requests at the limit")} {...form.getInputProps("isEnforced", { type: "checkbox" })} />
      <Text size="sm" c="dimmed">
        {typeof dollars !== "number"
          ? t("{{name}} has no spend limit.", { name })
          : isEnforced
            ? t("Requests that would exceed {{dollars}} this month get a 429.", { dollars: formatCost(dollars) })
            : t("Parlance logs a warning above {{dollars}}; requests continue.", { dollars: formatCost(dollars) })}
      </Text>
      <Group>
        <Button type="submit" loading={save.isPending} disabled={typeof dollars !== "number" && limit === null}>
          {typeof dollars === "number" || limit === null ? t("Save spend limit") : t("Remove spend limit")}
        </Button>
      </Group>
    </FieldForm>
  );
}
