export const SUBJECTS = [
  { value: "organization", label: "Organization" },
  { value: "project", label: "Project" },
  { value: "api_key", label: "API key" },
  { value: "user", label: "User" },
  { value: "end_user", label: "End user" },
  { value: "tag", label: "Tag" },
] as const;

type Subject = (typeof SUBJECTS)[number]["value"];

export const INTERVALS = [
  { value: "day", label: "Day" },
  { value: "week", label: "Week, from Monday" },
  { value: "month", label: "Month" },
  { value: "total", label: "For good" },
] as const;

const EVERY = { day: "a day", week: "a week", month: "a month", total: "in total" } as const;

interface Named {
  name: string | null;
  subject: { type: Subject; id: string | null };
  interval: keyof typeof EVERY;
}

/** Whose budget it is, such as `Each user, a month`. */
export function budgetTitle({ name, subject, interval }: Named): string {
  const label = SUBJECTS.find(({ value }) => value === subject.type)?.label ?? subject.type;
  const whose =
    subject.type === "organization"
      ? label
      : subject.id === null
        ? `Each ${label.toLowerCase()}`
        : `${label} ${subject.id}`;
  return `${name === null ? "" : `${name}: `}${whose}, ${EVERY[interval]}`;
}
