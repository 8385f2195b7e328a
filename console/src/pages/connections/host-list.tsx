import "../overview/overview.css";
import { Card, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { DialogButton } from "../../components/dialog-button.tsx";
import { Empty } from "../../components/empty.tsx";
import { TASK_NAMES } from "../../components/task-names.ts";
import { t } from "../../i18n/translate.ts";
import { IconPlus, IconServer } from "../../icons.tsx";
import { stateColor } from "../overview/deployment-groups.ts";
import { overviewQuery } from "../overview/overview-query.ts";
import { useNames } from "../people/use-names.ts";
import { useWeekProjects } from "../usage/week-projects.ts";
import type { Entry } from "./connections-api.ts";
import { EntryActions, EntryTable } from "./entry-table.tsx";
import { groupByHost, type HostEntries, runningOn } from "./host-groups.ts";
import type { ModelValue } from "./model-value.ts";

const ModelForm = lazy(async () => ({ default: (await import("./model-form.tsx")).ModelForm }));

interface HostListProps {
  entries: readonly Entry[];
  mayChange: boolean;
}

/** Hosts with their state, their models and the projects that use them. */
export function HostList({ entries, mayChange }: HostListProps) {
  const groups = groupByHost(entries);
  return (
    <>
      {mayChange && (
        <Group justify="flex-end">
          <DialogButton label={t("New model")} variant="default" leftSection={<IconPlus size={16} />}>
            {(close) => (
              <Suspense>
                <ModelForm close={close} />
              </Suspense>
            )}
          </DialogButton>
        </Group>
      )}
      {groups.length === 0 && (
        <Card>
          <Empty icon={<IconServer />} title={t("No models or connections are configured")}>
            {t("Connect a host above, or add models to parlance.yaml.")}
          </Empty>
        </Card>
      )}
      {groups.map((group) => (
        <Host key={group.name ?? ""} group={group} mayChange={mayChange} />
      ))}
    </>
  );
}

function Host({ group, mayChange }: { group: HostEntries; mayChange: boolean }) {
  const { data: projects } = useWeekProjects();
  const names = useNames();
  const usersOf = (model: string) =>
    [...(projects?.get(model) ?? [])].map((id) => names.get(id) ?? id).join(", ") || "—";
  return (
    <EntryTable
      title={group.name ?? t("This machine")}
      tools={<HostState group={group} mayChange={mayChange} />}
      entries={group.models}
      mayChange={mayChange}
      columns={[
        { label: t("Task"), cell: ({ value }) => taskOf(value as ModelValue) },
        { label: t("Used by, 7 days"), className: "wrap-anywhere", cell: ({ name }) => usersOf(name) },
      ]}
      empty={
        <Text size="sm" c="dimmed" p="md">
          {t("No model uses this connection yet. Test it above to choose some, or create a model.")}
        </Text>
      }
    />
  );
}

function taskOf({ task }: ModelValue): string {
  const name = TASK_NAMES[task as keyof typeof TASK_NAMES];
  return name === undefined ? "—" : t(name);
}

/** A square for each deployment of the host, its address, and what changes its connection. */
function HostState({ group, mayChange }: { group: HostEntries; mayChange: boolean }) {
  const { data: overview } = useQuery(overviewQuery);
  const deployments = runningOn(group, overview?.deployments ?? []);
  const ready = deployments.filter(({ state, circuit }) => state === "up" && circuit === "closed").length;
  const summary = t("{{ready}} of {{total}} ready", { ready, total: deployments.length });
  return (
    <Group gap="sm">
      {deployments.length > 0 && (
        <Group gap={6} title={deployments.map(({ deployment, state }) => `${deployment}: ${state}`).join("\n")}>
          <span className="host-states" aria-hidden="true">
            {deployments.map((each) => (
              <span key={`${each.model} ${each.deployment}`} style={{ background: stateColor(each) }} />
            ))}
          </span>
          <Text size="sm">{summary}</Text>
        </Group>
      )}
      {group.address !== undefined && (
        <Text size="sm" c="dimmed" className="wrap-anywhere">
          {group.address}
        </Text>
      )}
      {group.connection !== undefined && <EntryActions entry={group.connection} mayChange={mayChange} />}
    </Group>
  );
}
