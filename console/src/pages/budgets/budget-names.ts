import { type Message, msg, t } from "../../i18n/translate.ts";

export const SUBJECTS = [
  { value: "organization", label: msg("Organization") },
  { value: "project", label: msg("Project") },
  { value: "api_key", label: msg("API key") },
  { value: "user", label: msg("User") },
  { value: "end_user", label: msg("End user") },
  { value: "tag", label: msg("Tag") },
] as const;

type Subject = (typeof SUBJECTS)[number]["value"];

export const INTERVALS = [
  { value: "day", label: msg("Day") },
  { value: "week", label: msg("Week, from Monday") },
  { value: "month", label: msg("Month") },
  { value: "total", label: msg("For good") },
] as const;

interface Named {
  name: string | null;
  subject: { type: Subject; id: string | null };
  interval: (typeof INTERVALS)[number]["value"];
}

const EACH = {
  organization: msg("Organization"),
  project: msg("Each project"),
  api_key: msg("Each api key"),
  user: msg("Each user"),
  end_user: msg("Each end user"),
  tag: msg("Each tag"),
} satisfies Record<Subject, Message>;

/** Whose budget it is, such as `Each user, a month`. */
export function budgetTitle({ name, subject, interval }: Named): string {
  const title = every(interval, whoseBudget(subject));
  return name === null ? title : t("{{name}}: {{title}}", { name, title });
}

function whoseBudget({ type, id }: Named["subject"]): string {
  if (type === "organization" || id === null) return t(EACH[type]);
  const label = SUBJECTS.find(({ value }) => value === type)?.label;
  return t("{{subject}} {{id}}", { subject: label === undefined ? type : t(label), id });
}

function every(interval: Named["interval"], whose: string): string {
  switch (interval) {
    case "day":
      return t("{{whose}}, a day", { whose });
    case "week":
      return t("{{whose}}, a week", { whose });
    case "month":
      return t("{{whose}}, a month", { whose });
    case "total":
      return t("{{whose}}, in total", { whose });
  }
}
