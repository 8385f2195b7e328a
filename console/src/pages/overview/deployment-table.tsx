import { Badge, Group, Stack, Text, UnstyledButton } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { Empty } from "../../components/empty.tsx";
import { formatBytes, formatMilliseconds } from "../../components/format.ts";
import { ResourceTable } from "../../components/resource-table.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { Trans } from "../../i18n/trans.tsx";
import { t } from "../../i18n/translate.ts";
import { IconChevronDown, IconChevronRight, IconServer } from "../../icons.tsx";
import { groupByHost, type HostGroup, stateColor } from "./deployment-groups.ts";
import type { Deployment } from "./overview-query.ts";

/** What is loaded on each device, as `3 of 8 loaded on cpu, 1.3 GB`. */
function devicesOf(deployments: readonly Deployment[]): string[] {
  const running = Map.groupBy(
    deployments.filter(({ device, state }) => device !== null && state === "up"),
    ({ device }) => device,
  );
  return [...running].map(([device, loaded]) => {
    const sumOf = (key: "memory_bytes" | "vram_bytes") => loaded.reduce((sum, each) => sum + (each[key] ?? 0), 0);
    const [bytes, vramBytes] = [sumOf("memory_bytes"), sumOf("vram_bytes")];
    const counts = { loaded: loaded.length, total: deployments.length, device: device ?? "" };
    return [
      t("{{loaded}} of {{total}} loaded on {{device}}", counts),
      ...(bytes === 0 ? [] : [formatBytes(bytes)]),
      ...(vramBytes === 0 ? [] : [t("{{size}} VRAM", { size: formatBytes(vramBytes) })]),
    ].join(", ");
  });
}

/** Those in use first. */
function byState(a: Deployment, b: Deployment): number {
  return Number(a.state === "unloaded") - Number(b.state === "unloaded");
}

type Row = { key: string } & (
  | { group: HostGroup; isOpen: boolean; onToggle: () => void }
  | { group?: undefined; deployment: Deployment }
);

function toRow(deployment: Deployment): Row {
  return { key: `${deployment.model} ${deployment.deployment}`, deployment };
}

const ROW_HEIGHT = 52;

export function DeploymentTable({ deployments }: { deployments: Deployment[] }) {
  const [openHosts, setOpenHosts] = useState<readonly string[]>([]);
  const groups = groupByHost(deployments);
  const rows: Row[] =
    groups?.flatMap((group) => {
      const isOpen = openHosts.includes(group.host);
      const onToggle = () =>
        setOpenHosts((hosts) => (isOpen ? hosts.filter((host) => host !== group.host) : [...hosts, group.host]));
      const header: Row = { key: `host/${group.host}`, group, isOpen, onToggle };
      return [header, ...(isOpen ? group.deployments.map(toRow) : [])];
    }) ?? deployments.toSorted(byState).map(toRow);
  return (
    <ResourceTable
      title={t("Deployments")}
      tools={
        <Text size="sm" c="dimmed" className="tabular">
          {devicesOf(deployments).join(" · ")}
        </Text>
      }
      rows={rows}
      keyOf={({ key }) => key}
      rowHeight={ROW_HEIGHT}
      minWidth={760}
      empty={
        <Empty icon={<IconServer />} title={t("No deployments")}>
          <Trans
            text="Add models to parlance.yaml, or <link>connect a host</link>."
            tags={{ link: <Link to="/connections" /> }}
          />
        </Empty>
      }
      columns={[
        { label: t("Model"), cell: ofRow(HostName, DeploymentName) },
        { label: t("State"), span: (row) => (row.group === undefined ? 1 : 3), cell: ofRow(HostStates, State) },
        { label: t("Device"), cell: ofRow(nothing, ({ host, device }) => host ?? device ?? "—") },
        { label: t("Memory"), isNumeric: true, cell: ofRow(nothing, Memory) },
        {
          label: t("Slots"),
          isNumeric: true,
          cell: ofRow(
            ({ group }) => slotsOf(group.slotsInUse, group.slots || null),
            (each) => slotsOf(each.slots_in_use, each.slots),
          ),
        },
        {
          label: t("Queue"),
          isNumeric: true,
          cell: ofRow(
            ({ group }) => group.waiting,
            ({ waiting }) => waiting,
          ),
        },
        {
          label: t("First token"),
          isNumeric: true,
          cell: ofRow(
            ({ group }) => readyOf(group),
            ({ first_token_seconds: seconds }) => (seconds === null ? "—" : formatMilliseconds(1000 * seconds)),
          ),
        },
      ]}
    />
  );
}

type HostRow = Extract<Row, { group: HostGroup }>;

/** A cell that differs between rows of hosts and of deployments. */
function ofRow(host: (row: HostRow) => ReactNode, deployment: (each: Deployment) => ReactNode) {
  return (row: Row) => (row.group === undefined ? deployment(row.deployment) : host(row));
}

function nothing(): ReactNode {
  return null;
}

function slotsOf(inUse: number, slots: number | null): string | number {
  return slots === null ? inUse : `${inUse} / ${slots}`;
}

function readyOf({ deployments }: HostGroup): string {
  const ready = deployments.filter(({ state }) => state === "up").length;
  return t("{{ready}} of {{total}} ready", { ready, total: deployments.length });
}

function HostName({ group, isOpen, onToggle }: HostRow) {
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <UnstyledButton aria-expanded={isOpen} onClick={onToggle} className="host-name">
      <Chevron size={15} />
      {group.host}
    </UnstyledButton>
  );
}

/** A square for each deployment of a host. */
function HostStates({ group }: HostRow) {
  return (
    <span className="host-states" role="img" aria-label={readyOf(group)}>
      {group.deployments.map((each) => (
        <span
          key={`${each.model} ${each.deployment}`}
          title={`${each.deployment}: ${each.state}`}
          style={{ background: stateColor(each) }}
        />
      ))}
    </span>
  );
}

function DeploymentName(each: Deployment) {
  return (
    <Stack gap={0}>
      <Text size="sm" fw={500} className="wrap-anywhere">
        {each.model}
      </Text>
      <Text size="xs" c="dimmed" className="wrap-anywhere">
        {each.task} · {each.engine}
        {each.deployment !== each.model && ` · ${each.deployment}`}
      </Text>
    </Stack>
  );
}

function State(each: Deployment) {
  return (
    <Group gap={6}>
      <StatusBadge state={each.state} />
      {each.circuit !== "closed" && (
        <Badge color="red" variant="light">
          {each.circuit === "open" ? t("circuit open") : t("circuit half open")}
        </Badge>
      )}
    </Group>
  );
}

function Memory({ memory_bytes: bytes, vram_bytes: vram }: Deployment) {
  return (
    <>
      {bytes === null ? "—" : formatBytes(bytes)}
      {vram !== null && (
        <Text size="xs" c="dimmed">
          {t("{{size}} VRAM", { size: formatBytes(vram) })}
        </Text>
      )}
    </>
  );
}
