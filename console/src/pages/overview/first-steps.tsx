import { ActionIcon, Card, Group, Progress, Text, Title, Tooltip } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { request } from "../../api/request.ts";
import { useSession } from "../../api/session.ts";
import { spendLimitQuery } from "../../components/spend-form.tsx";
import { IconCheck, IconX } from "../../icons.tsx";
import type { ListedKey } from "../keys/key-list.tsx";
import { pathOf } from "../projects/projects-api.ts";
import type { Overview } from "./overview-query.ts";

interface Step {
  title: string;
  detail: string;
  to: string;
  search?: Record<string, string>;
  isDone: boolean;
}

/** What a new installation is for, step by step, until everything is done or the list is dismissed. */
export function FirstSteps({ overview }: { overview: Overview }) {
  const { project, is_admin: isAdmin } = useSession();
  const [isDismissed, setIsDismissed] = useLocalStorage({
    key: "parlance-first-steps-dismissed",
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  const isShown = isAdmin && project !== null && !isDismissed;
  const keys = useQuery({
    queryKey: ["keys", "first", project?.id],
    enabled: isShown,
    queryFn: async ({ signal }) =>
      (await request<{ data: ListedKey[] }>(`${pathOf(project?.id ?? "")}/api_keys`, { query: { limit: 20 }, signal }))
        .data,
  });
  // The overview of an administrator has the organization's limit only.
  const budget = useQuery({ ...spendLimitQuery(pathOf(project?.id ?? "")), enabled: isShown });
  if (!isShown || keys.data === undefined || budget.data === undefined) return null;
  const created = keys.data.filter(({ owner }) => owner.service_account !== undefined);
  const steps: Step[] = [
    {
      title: "Chat with a model",
      detail: "Send a first message in the playground.",
      to: "/chat",
      isDone: overview.spend.month_usd > 0 || overview.minutes.some(({ requests }) => requests > 0),
    },
    {
      title: "Create a key",
      detail: "One for each person or program.",
      to: `/projects/${project.id}`,
      isDone: created.length > 0,
    },
    {
      title: "Set a budget",
      detail: "A monthly limit in dollars.",
      to: `/projects/${project.id}`,
      search: { tab: "limits" },
      isDone: budget.data !== null || overview.spend.limits.length > 0,
    },
    {
      title: "Connect a client",
      detail: "Its base URL and key are on the key's dialog.",
      to: "/reference",
      isDone: created.some(({ last_used_at }) => last_used_at !== null),
    },
  ];
  const done = steps.filter(({ isDone }) => isDone).length;
  if (done === steps.length) return null;
  return (
    <Card component="section" aria-label="First steps">
      <Group justify="space-between" mb={10} wrap="nowrap">
        <Title order={2}>First steps</Title>
        <Group gap="sm" wrap="nowrap">
          <Progress value={(100 * done) / steps.length} w={90} size="sm" aria-label="Steps done" />
          <Text size="sm" c="dimmed" className="tabular nowrap">
            {done} of {steps.length}
          </Text>
          <Tooltip label="Dismiss">
            <ActionIcon
              variant="subtle"
              color="gray"
              size="sm"
              aria-label="Dismiss first steps"
              onClick={() => setIsDismissed(true)}
            >
              <IconX size={15} />
            </ActionIcon>
          </Tooltip>
        </Group>
      </Group>
      <ol className="steps">
        {steps.map(({ title, detail, to, search, isDone }) => (
          <li key={title} className="step" data-done={isDone || undefined}>
            <span className="step-mark">{isDone && <IconCheck size={13} stroke={2.6} aria-label="Done" />}</span>
            <div>
              <Link to={to} {...(search && { search: search as never })} className="step-link">
                {title}
              </Link>
              <Text size="xs" c="dimmed">
                {detail}
              </Text>
            </div>
          </li>
        ))}
      </ol>
    </Card>
  );
}
