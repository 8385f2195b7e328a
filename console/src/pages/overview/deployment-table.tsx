import { Badge, Card, Group, Stack, Table, Text, Title } from "@mantine/core";
import { Empty } from "../../components/empty.tsx";
import { formatBytes, formatMilliseconds } from "../../components/format.ts";
import { StatusBadge } from "../../components/status-badge.tsx";
import { VirtualBody } from "../../components/virtual-body.tsx";
import { IconServer } from "../../icons.tsx";
import type { Deployment } from "./overview-query.ts";

/** What is loaded on each device, as `3 of 8 loaded on cpu, 1.2 GiB`. */
function devicesOf(deployments: readonly Deployment[]): string[] {
  const running = Map.groupBy(
    deployments.filter(({ device, state }) => device !== null && state === "up"),
    ({ device }) => device,
  );
  return [...running].map(([device, own]) => {
    const sumOf = (key: "memory_bytes" | "vram_bytes") => own.reduce((sum, each) => sum + (each[key] ?? 0), 0);
    const [bytes, vramBytes] = [sumOf("memory_bytes"), sumOf("vram_bytes")];
    const memory = bytes === 0 ? "" : `, ${formatBytes(bytes)}`;
    const vram = vramBytes === 0 ? "" : `, ${formatBytes(vramBytes)} VRAM`;
    return `${own.length} of ${deployments.length} loaded on ${device}${memory}${vram}`;
  });
}

/** Those in use first. */
function byState(a: Deployment, b: Deployment): number {
  return Number(a.state === "unloaded") - Number(b.state === "unloaded");
}

export function DeploymentTable({ deployments }: { deployments: Deployment[] }) {
  return (
    <Card padding={0}>
      <Group justify="space-between" p="md" pb="xs" gap="xs">
        <Title order={2}>Deployments</Title>
        <Text size="sm" c="dimmed" className="tabular">
          {devicesOf(deployments).join(" · ")}
        </Text>
      </Group>
      {deployments.length === 0 ? (
        <Empty icon={<IconServer />} title="No deployments">
          Add models to parlance.yaml.
        </Empty>
      ) : (
        <Table.ScrollContainer minWidth={760} tabIndex={0}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Model</Table.Th>
                <Table.Th>State</Table.Th>
                <Table.Th>Device</Table.Th>
                <Table.Th ta="right">Memory</Table.Th>
                <Table.Th ta="right">Slots</Table.Th>
                <Table.Th ta="right">Queue</Table.Th>
                <Table.Th ta="right">First token</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <VirtualBody
              rows={deployments.toSorted(byState)}
              columns={7}
              rowHeight={58}
              keyOf={(each) => `${each.model} ${each.deployment}`}
            >
              {(each) => (
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
                          circuit {each.circuit}
                        </Badge>
                      )}
                    </Group>
                  </Table.Td>
                  <Table.Td>{each.device ?? "—"}</Table.Td>
                  <Table.Td ta="right" className="tabular nowrap">
                    {each.memory_bytes === null ? "—" : formatBytes(each.memory_bytes)}
                    {each.vram_bytes !== null && (
                      <Text size="xs" c="dimmed">
                        {formatBytes(each.vram_bytes)} VRAM
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
              )}
            </VirtualBody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Card>
  );
}
