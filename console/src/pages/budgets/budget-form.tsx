import { Alert, Checkbox, NativeSelect, NumberInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { FormDialog } from "../../components/form-dialog.tsx";
import { formatCost } from "../../components/format.ts";
import { t, translateLabels } from "../../i18n/translate.ts";
import { projectsQuery } from "../projects/projects-api.ts";
import { INTERVALS, SUBJECTS } from "./budget-names.ts";

type Budget = Answers["Budget"];

export const BUDGETS = ["budgets"];
export const BUDGETS_PATH = "v1/organization/budgets";

interface BudgetFormProps {
  /** Undefined: a new one. */
  budget: Budget | undefined;
  existing: readonly Budget[];
  onClose: () => void;
}

interface BudgetFields {
  name: string;
  subject: Budget["subject"]["type"];
  /** ID of the subject; empty: each one. */
  id: string;
  interval: Budget["interval"];
  dollars: number | string;
  isHard: boolean;
  percents: string;
  recipients: string;
}

/** Creates or changes a budget. */
export function BudgetForm({ budget, existing, onClose }: BudgetFormProps) {
  const isNew = budget === undefined;
  return (
    <FormDialog<BudgetFields, unknown>
      title={isNew ? t("New budget") : t("Change the budget")}
      action={isNew ? t("Create") : t("Save")}
      size="lg"
      onClose={onClose}
      initial={{
        name: budget?.name ?? "",
        subject: budget?.subject.type ?? "organization",
        id: budget?.subject.id ?? "",
        interval: budget?.interval ?? "month",
        dollars: isNew ? "" : budget.threshold_amount / 100,
        isHard: budget?.enforcement.status === "enforcing",
        percents: (budget?.alert_percents ?? [50, 80, 100]).join(", "),
        recipients: budget?.notification_channel?.recipients.join(", ") ?? "",
      }}
      validate={{
        dollars: (value) => (Number(value) >= 0.01 ? null : t("At least $0.01.")),
        percents: (value) => (toList(value).every((each) => Number(each) > 0) ? null : t("Numbers between commas.")),
      }}
      save={(fields) =>
        request(isNew ? BUDGETS_PATH : `${BUDGETS_PATH}/${budget.id}`, { method: "POST", body: toBody(fields, isNew) })
      }
      done={() => (isNew ? t("Budget created") : t("Budget changed"))}
      parameters={{
        threshold_amount: "dollars",
        alert_percents: "percents",
        notification_channel: "recipients",
        enforcement: "isHard",
        "subject.id": "id",
      }}
      changes={[BUDGETS]}
    >
      {(form) => {
        const { subject, id, isHard } = form.values;
        const same = isNew && existing.find((each) => isSame(each, form.values));
        return (
          <>
            {isNew && (
              <>
                <NativeSelect
                  label={t("Whose spending counts")}
                  data={translateLabels(SUBJECTS)}
                  {...form.getInputProps("subject")}
                  onChange={(event) =>
                    form.setValues({ subject: event.currentTarget.value as BudgetFields["subject"], id: "" })
                  }
                />
                {subject === "project" && <ProjectField {...form.getInputProps("id")} />}
                {subject !== "organization" && subject !== "project" && (
                  <TextInput
                    label={t("ID or name")}
                    description={t("Leave it empty to give each one the budget for itself.")}
                    {...form.getInputProps("id")}
                  />
                )}
                <NativeSelect
                  label={t("Within")}
                  data={translateLabels(INTERVALS)}
                  {...form.getInputProps("interval")}
                />
              </>
            )}
            <NumberInput
              label={t("US dollars")}
              decimalScale={2}
              prefix="$"
              required
              data-autofocus={!isNew || undefined}
              {...form.getInputProps("dollars")}
            />
            <Checkbox
              label={t("Refuse requests that could exceed it")}
              {...form.getInputProps("isHard", { type: "checkbox" })}
            />
            {isNew && isHard && subject !== "organization" && id.trim() === "" && (
              <Alert color="orange" variant="light">
                {t("Everyone it counts for is refused at the limit, from the next request on.")}
              </Alert>
            )}
            {same && (
              <Alert color="orange" variant="light" title={t("There is a budget like this already")}>
                {t("It is {{amount}}. Both will apply; change that one instead to replace it.", {
                  amount: formatCost(same.threshold_amount / 100),
                })}
              </Alert>
            )}
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
          </>
        );
      }}
    </FormDialog>
  );
}

function ProjectField(field: { value?: string }) {
  const { data: projects = [] } = useQuery(projectsQuery(false));
  return (
    <NativeSelect
      label={t("Project")}
      data={[
        { value: "", label: t("Each project, for itself") },
        ...projects.map(({ id, name }) => ({ value: id, label: name })),
      ]}
      {...field}
    />
  );
}

/** Whether a budget counts the same spending. */
function isSame({ subject, interval }: Budget, fields: BudgetFields): boolean {
  const id = fields.subject === "organization" ? null : fields.id.trim() || null;
  return subject.type === fields.subject && subject.id === id && interval === fields.interval;
}

function toBody(fields: BudgetFields, isNew: boolean): object {
  const { name, subject: type, id, interval, dollars, isHard, percents } = fields;
  const recipients = toList(fields.recipients);
  const isEach = type === "organization" || id.trim() === "";
  return {
    name: name.trim() === "" ? null : name,
    threshold_amount: Math.round(Number(dollars) * 100),
    enforcement: { status: isHard ? "enforcing" : "inactive" },
    alert_percents: toList(percents).map(Number),
    notification_channel: recipients.length === 0 ? null : { type: "email", recipients },
    ...(isNew && { subject: { type, ...(!isEach && { id: id.trim() }) }, interval }),
  };
}

function toList(text: string): string[] {
  return text
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
}
