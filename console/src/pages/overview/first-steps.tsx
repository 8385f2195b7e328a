import { ActionIcon, Card, Group, Progress, Text, Title } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { request } from "../../api/request.ts";
import { useSession } from "../../api/session.ts";
import { Dialog } from "../../components/dialog.tsx";
import { SpendForm, spendLimitQuery } from "../../components/spend-form.tsx";
import { Tooltip } from "../../components/tooltip.tsx";
import { t } from "../../i18n/translate.ts";
import { IconCheck, IconX } from "../../icons.tsx";
import type { ListedKey } from "../keys/key-list.tsx";
import { pathOf } from "../projects/projects-api.ts";
import type { Overview } from "./overview-query.ts";

const InviteDialog = lazy(async () => ({ default: (await import("../people/new-invite.tsx")).InviteDialog }));
const ClientKeyDialog = lazy(async () => ({ default: (await import("./client-key-dialog.tsx")).ClientKeyDialog }));

interface Step {
  id: "chat" | "connect" | "invite" | "budget" | "client";
  title: string;
  detail: string;
  /** Page of the step; undefined: a dialog does it. */
  to?: string;
}

const steps = (): Step[] => [
  { id: "chat", title: t("Ask a model"), detail: t("Send a first message."), to: "/chat" },
  {
    id: "connect",
    title: t("Connect a host"),
    detail: t("Or stay with the models of this machine."),
    to: "/connections",
  },
  { id: "invite", title: t("Invite a person"), detail: t("The link works once.") },
  { id: "budget", title: t("Set a limit"), detail: t("A monthly limit in dollars.") },
  { id: "client", title: t("Connect your editor"), detail: t("A key, and lines to paste into it or a program.") },
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
    refetchInterval: 10_000,
    queryFn: async ({ signal }) => {
      const list = async <Entry,>(path: string, limit: number) =>
        (await request<{ data: Entry[] }>(path, { query: { limit }, signal })).data;
      const keys = await list<ListedKey>(`${pathOf(project)}/api_keys`, 20);
      const created = keys.filter(({ owner }) => "service_account" in owner);
      const [budgets, invites, users, { data: connections }] = await Promise.all([
        list("v1/organization/budgets", 1),
        list("v1/organization/invites", 1),
        list("v1/organization/users", 2),
        request<{ data: unknown[] }>("v1/organization/configuration/entries", {
          query: { kind: "connection", limit: 1 },
          signal,
        }).catch(() => ({ data: [] })),
      ]);
      return {
        hasConnection: connections.length > 0,
        hasPeople: invites.length > 0 || users.length > 1,
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
    connect:
      facts.data?.hasConnection === true || overview.deployments?.some(({ device }) => device === "upstream") === true,
    invite: facts.data?.hasPeople === true,
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
  const [opened, setOpened] = useState<Step["id"]>();
  const close = () => setOpened(undefined);
  const all = steps();
  if (done === undefined || all.every(({ id }) => done.has(id))) return null;
  return (
    <Card component="section" aria-label={t("First steps")}>
      <Group justify="space-between" mb={10} wrap="nowrap">
        <Title order={2}>{t("First steps")}</Title>
        <Group gap="sm" wrap="nowrap">
          <Progress
            value={(100 * all.filter(({ id }) => done.has(id)).length) / all.length}
            w={90}
            size="sm"
            aria-label={t("Steps done")}
          />
          <Text size="sm" c="dimmed" className="tabular nowrap">
            {t("{{done}} of {{total}}", { done: all.filter(({ id }) => done.has(id)).length, total: all.length })}
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
        {all.map(({ id, title, detail, to }) => (
          <li key={id} className="step" data-done={done.has(id) || undefined}>
            <span className="step-mark">
              {done.has(id) && <IconCheck size={13} stroke={2.6} aria-label={t("Done")} />}
            </span>
            <div>
              {to === undefined ? (
                <button type="button" className="step-link" onClick={() => setOpened(id)}>
                  {title}
                </button>
              ) : (
                <Link to={to} className="step-link">
                  {title}
                </Link>
              )}
              <Text size="xs" c="dimmed">
                {detail}
              </Text>
            </div>
          </li>
        ))}
      </ol>
      <Suspense>
        {opened === "invite" && <InviteDialog onClose={close} />}
        {opened === "budget" && (
          <Dialog title={t("Set a limit")} onClose={close}>
            <SpendForm owner={pathOf(project)} name={t("This project")} onSaved={close} />
          </Dialog>
        )}
        {opened === "client" && <ClientKeyDialog project={project} onClose={close} />}
      </Suspense>
    </Card>
  );
}
