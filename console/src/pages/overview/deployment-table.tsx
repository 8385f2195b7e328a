import { Badge, Card, Group, Stack, Table, Text, Title, UnstyledButton } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Empty } from "../../components/empty.tsx";
import { formatBytes, formatMilliseconds } from "../../components/format.ts";
import { StatusBadge } from "../../components/status-badge.tsx";
import { VirtualBody } from "../../components/virtual-body.tsx";
import { Trans } from "../../i18n/trans.tsx";
import { t } from "../../i18n/translate.ts";
import { IconChevronDown, IconChevronRight, IconServer } from "../../icons.tsx";
import { groupByHost, type HostGroup, stateColor } from "./deployment-groups.ts";
import type { Deployment } from "./overview-query.ts";

/** What is loaded on each device, as `3 of 8 loaded on cpu, 1.2 GiB`. */
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

const COLUMNS = 7;
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
    <Card padding={0}>
      <Group justify="space-between" p="md" pb="xs" gap="xs">
        <Title order={2}>{t("Deployments")}</Title>
        <Text size="sm" c="dimmed" className="tabular">
          {devicesOf(deployments).join(" · ")}
        </Text>
      </Group>
      {deployments.length === 0 ? (
        <Empty icon={<IconServer />} title={t("No deployments")}>
          <Trans
            text="Add models to parlance.yaml, or <link>connect a host</link>."
            tags={{ link: <Link to="/connections" /> }}
          />
        </Empty>
      ) : (
        <Table.ScrollContainer minWidth={760} tabIndex={0}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t("Model")}</Table.Th>
                <Table.Th>{t("State")}</Table.Th>
                <Table.Th>{t("Device")}</Table.Th>
                <Table.Th ta="right">{t("Memory")}</Table.Th>
                <Table.Th ta="right">{t("Slots")}</Table.Th>
                <Table.Th ta="right">{t("Queue")}</Table.Th>
                <Table.Th ta="right">{t("First token")}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <VirtualBody rows={rows} columns={COLUMNS} rowHeight={ROW_HEIGHT} keyOf={({ key }) => key}>
              {(row) => (row.group === undefined ? <Cells {...row.deployment} /> : <HostCells {...row} />)}
            </VirtualBody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Card>
  );
}

interface HostCellsProps {
  group: HostGroup;
  isOpen: boolean;
  onToggle: () => void;
}

/** Summary of a host: a square for each deployment. */
function HostCells({ group, isOpen, onToggle }: HostCellsProps) {
  const { host, deployments, slotsInUse, slots, waiting } = group;
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  const ready = deployments.filter(({ state }) => state === "up").length;
  const summary = t("{{ready}} of {{total}} ready", { ready, total: deployments.length });
  return (
    <>
      <Table.Td>
        <UnstyledButton aria-expanded={isOpen} onClick={onToggle} className="host-name">
          <Chevron size={15} />
          {host}
        </UnstyledButton>
      </Table.Td>
      <Table.Td colSpan={3}>
        <span className="host-states" role="img" aria-label={summary}>
          {deployments.map((each) => (
            <span
              key={`${each.model} ${each.deployment}`}
              title={`${each.deployment}: ${each.state}`}
              style={{ background: stateColor(each) }}
            />
          ))}
        </span>
      </Table.Td>
      <Table.Td ta="right" className="tabular">
        {slots === 0 ? slotsInUse : `${slotsInUse} / ${slots}`}
      </Table.Td>
      <Table.Td ta="right" className="tabular">
        {waiting}
      </Table.Td>
      <Table.Td ta="right" className="tabular nowrap">
        {summary}
      </Table.Td>
    </>
  );
}

function Cells(each: Deployment) {
  return (
    <>
      <Table.Td>
        <Stack gap={0}>
          <Text size="sm" fw={500} className="wrap-anywhere">
            {each.model}
          </Text>
          <Text size="xs" c="dimmed" className="wrap-anywhere">
            {each.task} · {each.engine}
            {each.deployment !== each.model && ` · ${each.deployment}`}
          </Text>
        </Stack>
      </Table.Td>
      <Table.Td>
        <Group gap={6}>
          <StatusBadge state={each.state} />
          {each.circuit !== "closed" && (
            <Badge color="red" variant="light">
              {each.circuit === "open" ? t("circuit open") : t("circuit half open")}
            </Badge>
          )}
        </Group>
      </Table.Td>
      <Table.Td>{each.host ?? each.device ?? "—"}</Table.Td>
      <Table.Td ta="right" className="tabular nowrap">
        {each.memory_bytes === null ? "—" : formatBytes(each.memory_bytes)}
        {each.vram_bytes !== null && (
          <Text size="xs" c="dimmed">
            {t("{{size}} VRAM", { size: formatBytes(each.vram_bytes) })}
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="right" className="tabular">
        {each.slots === null ? each.slots_in_use : `${each.slots_in_use} / ${each.slots}`}
      </Table.Td>
      <Table.Td ta="right" className="tabular">
        {each.waiting}
      </Table.Td>
      <Table.Td ta="right" className="tabular nowrap">
        {each.first_token_seconds === null ? "—" : formatMilliseconds(1000 * each.first_token_seconds)}
      </Table.Td>
    </>
  );
}
