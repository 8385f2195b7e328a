import { Button, Card, Group, Table, Text, Title, VisuallyHidden } from "@mantine/core";
import { formatAgo, formatCost, formatNumber } from "../../components/format.ts";
import { PRODUCTION, type PromptVersion, type StoredPrompt, type VersionUsage } from "./prompts-api.ts";
import { LabelBadges } from "./prompts-page.tsx";
import { useMoveLabel } from "./use-move-label.ts";

interface VersionTableProps {
  prompt: StoredPrompt;
  versions: readonly PromptVersion[];
  usage: readonly VersionUsage[];
  /** Number of the version below the table. */
  shown: number;
  isWriter: boolean;
  show: (version: number) => void;
  compare: (version: number) => void;
}

/** Versions, newest first, with what each cost and how it was rated. */
export function VersionTable({ prompt, versions, usage, shown, isWriter, show, compare }: VersionTableProps) {
  const { move } = useMoveLabel(prompt);
  const production = prompt.labels[PRODUCTION];
  return (
    <Card padding={0}>
      <Title order={2} p="md" pb="xs">
        Versions
      </Title>
      <Table.ScrollContainer minWidth={820} mah={420} tabIndex={0}>
        <Table highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Version</Table.Th>
              <Table.Th>Labels</Table.Th>
              <Table.Th>Note</Table.Th>
              <Table.Th ta="right">Requests</Table.Th>
              <Table.Th ta="right">Cost each</Table.Th>
              <Table.Th ta="right">Rating</Table.Th>
              <Table.Th>
                <VisuallyHidden>Actions</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {versions.map(({ version, labels, note, created_at: time }) => (
              <Table.Tr key={version} data-selected={version === shown || undefined} className="version-row">
                <Table.Td className="nowrap">
                  <button
                    type="button"
                    className="link-button"
                    aria-pressed={version === shown}
                    onClick={() => show(version)}
                  >
                    Version {version}
                  </button>
                  <Text size="xs" c="dimmed">
                    {formatAgo(time)}
                  </Text>
                </Table.Td>
                <Table.Td>
                  <LabelBadges labels={labels} />
                </Table.Td>
                <Table.Td className="wrap-anywhere">{note}</Table.Td>
                <UsageCells usage={usage.find((each) => each.version === version)} />
                <Table.Td>
                  <Group gap={4} justify="flex-end" wrap="nowrap">
                    {versions.length > 1 && (
                      <Button
                        size="compact-sm"
                        variant="subtle"
                        aria-label={`Compare version ${version}`}
                        onClick={() => compare(version)}
                      >
                        Compare
                      </Button>
                    )}
                    {isWriter && version !== production && (
                      <Button
                        size="compact-sm"
                        variant="subtle"
                        loading={move.isPending && move.variables.version === version}
                        aria-label={
                          isEarlier(version, production)
                            ? `Roll back to version ${version}`
                            : `Roll out version ${version}`
                        }
                        onClick={() => move.mutate({ label: PRODUCTION, version })}
                      >
                        {isEarlier(version, production) ? "Roll back" : "Roll out"}
                      </Button>
                    )}
                  </Group>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Card>
  );
}

function isEarlier(version: number, production: number | undefined): boolean {
  return production !== undefined && version < production;
}

function UsageCells({ usage }: { usage: VersionUsage | undefined }) {
  const { requests = 0, cost_usd: cost = null, ratings = 0, mean_score: score = null } = usage ?? {};
  return (
    <>
      <Table.Td ta="right" className="tabular">
        {formatNumber(requests)}
      </Table.Td>
      <Table.Td ta="right" className="tabular">
        {cost === null || requests === 0 ? "–" : formatCost(cost / requests)}
      </Table.Td>
      <Table.Td ta="right" className="tabular nowrap">
        {score === null ? "–" : `${Math.round(100 * score)} % of ${formatNumber(ratings)}`}
      </Table.Td>
    </>
  );
}
