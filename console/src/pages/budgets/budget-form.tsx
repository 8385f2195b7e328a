import { Button, Checkbox, Group, Modal, NativeSelect, NumberInput, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { t, translateLabels } from "../../i18n/translate.ts";
import { INTERVALS, SUBJECTS } from "./budget-names.ts";

type Budget = Answers["Budget"];

export const BUDGETS = ["budgets"];
const PATH = "v1/organization/budgets";

interface BudgetFormProps {
  /** Undefined: a new one. */
  budget: Budget | undefined;
  onClose: () => void;
}

/** Creates or changes a budget. */
export function BudgetForm({ budget, onClose }: BudgetFormProps) {
  const client = useQueryClient();
  const form = useForm({
    initialValues: {
      name: budget?.name ?? "",
      subject: budget?.subject.type ?? "user",
      id: budget?.subject.id ?? "",
      interval: budget?.interval ?? "month",
      dollars: budget === undefined ? 10 : budget.threshold_amount / 100,
      isHard: budget?.enforcement.status !== "inactive",
      percents: (budget?.alert_percents ?? [50, 80, 100]).join(", "),
      recipients: budget?.notification_channel?.recipients.join(", ") ?? "",
    },
  });
  const save = useMutation({
    mutationFn: async (values: typeof form.values) => {
      const recipients = toList(values.recipients);
      const body = {
        name: values.name.trim() === "" ? null : values.name,
        threshold_amount: Math.round(values.dollars * 100),
        enforcement: { status: values.isHard ? "enforcing" : "inactive" },
        alert_percents: toList(values.percents).map(Number),
        notification_channel: recipients.length === 0 ? null : { type: "email", recipients },
      };
      const { subject: type, id, interval } = values;
      const isEach = type === "organization" || id.trim() === "";
      const subject = { type, ...(!isEach && { id: id.trim() }) };
      if (budget === undefined) await request(PATH, { method: "POST", body: { ...body, subject, interval } });
      else await request(`${PATH}/${budget.id}`, { method: "POST", body });
      await client.invalidateQueries({ queryKey: BUDGETS });
      onClose();
    },
  });
  const isNew = budget === undefined;
  return (
    <Modal opened onClose={onClose} title={isNew ? t("New budget") : t("Change the budget")} size="lg">
      <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
        <Stack>
          <ErrorAlert error={save.error} />
          {isNew && (
            <>
              <NativeSelect
                label={t("Whose spending counts")}
                data={translateLabels(SUBJECTS)}
                {...form.getInputProps("subject")}
              />
              {form.values.subject !== "organization" && (
                <TextInput
                  label={t("ID or name")}
                  description={t("Leave it empty to give each one the budget for itself.")}
                  {...form.getInputProps("id")}
                />
              )}
              <NativeSelect label={t("Within")} data={translateLabels(INTERVALS)} {...form.getInputProps("interval")} />
            </>
          )}
          <NumberInput
            label={t("US dollars")}
            min={0.01}
            decimalScale={2}
            required
            {...form.getInputProps("dollars")}
          />
          <Checkbox
            label={t("Refuse requests that could exceed it")}
            {...form.getInputProps("isHard", { type: "checkbox" })}
          />
          <TextInput label={t("Alert at percent")} {...form.getInputProps("percents")} />
          <TextInput
            label={t("E-mail alerts to")}
            description={t("Addresses between commas. Webhooks get every alert.")}
            {...form.getInputProps("recipients")}
          />
          <TextInput
            label={t("Name")}
            description={t("Appears in messages and alerts.")}
            {...form.getInputProps("name")}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t("Cancel")}
            </Button>
            <Button type="submit" loading={save.isPending}>
              {isNew ? t("Create") : t("Save")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function toList(text: string): string[] {
  return text
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
}
