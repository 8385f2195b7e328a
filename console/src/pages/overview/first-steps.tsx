import { ActionIcon, Card, Group, Progress, Text, Title } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { request } from "../../api/request.ts";
import { useSession } from "../../api/session.ts";
import { spendLimitQuery } from "../../components/spend-form.tsx";
import { Tooltip } from "../../components/tooltip.tsx";
import { t } from "../../i18n/translate.ts";
import { IconCheck, IconX } from "../../icons.tsx";
import type { ListedKey } from "../keys/key-list.tsx";
import { pathOf } from "../projects/projects-api.ts";
import type { Overview } from "./overview-query.ts";

interface Step {
  id: "chat" | "key" | "budget" | "client";
  title: string;
  detail: string;
  to: string;
  search?: Record<string, string>;
}

const stepsOf = (project: string): Step[] => [
  { id: "chat", title: t("Chat with a model"), detail: t("Send a first message in the playground."), to: "/chat" },
  { id: "key", title: t("Create a key"), detail: t("One for each person or program."), to: `/projects/${project}` },
  {
    ...{ id: "budget", title: t("Set a budget"), detail: t("A monthly limit in dollars.") },
    ...{ to: `/projects/${project}`, search: { tab: "limits" } },
  },
  {
    ...{ id: "client", title: t("Connect a client"), to: "/reference" },
    detail: t("Its base URL and key are on the key's dialog."),
  },
];

/** What a new installation is for, step by step, until everything is done or the list is dismissed. */
export function FirstSteps({ overview }: { overview: Overview }) {
  const { project, is_admin: isAdmin } = useSession();
  const [isDismissed, setIsDismissed] = useLocalStorage({
    key: "parlance-first-steps-dismissed",
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  if (!isAdmin || project === null || isDismissed) return null;
  return <Checklist overview={overview} project={project.id} onDismiss={() => setIsDismissed(true)} />;
}

/** Steps that are done; undefined until that is known. */
function useDoneSteps(overview: Overview, project: string): ReadonlySet<Step["id"]> | undefined {
  const [remembered, setRemembered] = useLocalStorage<Step["id"][]>({
    key: "parlance-first-steps-done",
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const facts = useQuery({
    queryKey: ["first-steps", project],
    queryFn: async ({ signal }) => {
      const list = async <Entry,>(path: string, limit: number) =>
        (await request<{ data: Entry[] }>(path, { query: { limit }, signal })).data;
      const keys = await list<ListedKey>(`${pathOf(project)}/api_keys`, 20);
      const created = keys.filter(({ owner }) => "service_account" in owner);
      const budgets = await list("v1/organization/budgets", 1);
      return {
        hasKey: created.length > 0,
        hasClient: created.some(({ last_used_at }) => last_used_at !== null),
        hasBudget: budgets.length > 0,
      };
    },
  });
  // The overview of an administrator has the organization's limit only.
  const limit = useQuery(spendLimitQuery(pathOf(project)));
  const isKnown = facts.data !== undefined && limit.data !== undefined;
  const { spend, minutes } = overview;
  const flags: Record<Step["id"], boolean> = {
    chat: spend.month_usd > 0 || minutes.some(({ requests }) => requests > 0),
    key: facts.data?.hasKey === true,
    budget: facts.data?.hasBudget === true || limit.data != null || spend.limits.length > 0,
    client: facts.data?.hasClient === true,
  };
  const ids = Object.keys(flags) as Step["id"][];
  const news = ids.filter((id) => flags[id] && !remembered.includes(id)).join(" ");
  // The hour of requests and the month of spending end; a step that was done once stays so.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `news` is what is to be remembered
  useEffect(() => {
    if (news !== "") setRemembered((before) => [...before, ...(news.split(" ") as Step["id"][])]);
  }, [news]);
  return isKnown ? new Set(ids.filter((id) => flags[id] || remembered.includes(id))) : undefined;
}

interface ChecklistProps {
  overview: Overview;
  project: string;
  onDismiss: () => void;
}

function Checklist({ overview, project, onDismiss }: ChecklistProps) {
  const done = useDoneSteps(overview, project);
  const steps = stepsOf(project);
  if (done === undefined || done.size === steps.length) return null;
  return (
    <Card component="section" aria-label={t("First steps")}>
      <Group justify="space-between" mb={10} wrap="nowrap">
        <Title order={2}>{t("First steps")}</Title>
        <Group gap="sm" wrap="nowrap">
          <Progress value={(100 * done.size) / steps.length} w={90} size="sm" aria-label={t("Steps done")} />
          <Text size="sm" c="dimmed" className="tabular nowrap">
            {t("{{done}} of {{total}}", { done: done.size, total: steps.length })}
          </Text>
          <Tooltip label={t("Dismiss")}>
            <ActionIcon
              variant="subtle"
              color="gray"
              size="sm"
              aria-label={t("Dismiss first steps")}
              onClick={onDismiss}
            >
              <IconX size={15} />
            </ActionIcon>
          </Tooltip>
        </Group>
      </Group>
      <ol className="steps">
        {steps.map(({ id, title, detail, to, search }) => (
          <li key={id} className="step" data-done={done.has(id) || undefined}>
            <span className="step-mark">
              {done.has(id) && <IconCheck size={13} stroke={2.6} aria-label={t("Done")} />}
            </span>
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
