import { Anchor, Badge, Button, Card, Collapse, Group, Loader, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconChevronDown, IconChevronRight, IconSearch, IconTool } from "../../../icons.tsx";
import type { Citation, ServiceCall } from "./service-tools.ts";

const TITLES: Readonly<Record<string, string>> = {
  file_search_call: "Searched documents",
  web_search_call: "Searched the web",
  mcp_call: "Called a tool",
};

/** Calls of tools, with what they returned. */
export function ServiceCalls({ calls }: { calls: readonly ServiceCall[] }) {
  return calls.map((call) => <CallCard key={call.id} call={call} />);
}

function CallCard({ call }: { call: ServiceCall }) {
  const { type, status, queries, results, error } = call;
  const [isOpen, { toggle }] = useDisclosure(false);
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  const Icon = type === "mcp_call" ? IconTool : IconSearch;
  const isRunning = status !== "completed" && status !== "failed" && status !== "incomplete";
  const texts = results.filter(({ title, text }) => title !== "" || text !== "");
  return (
    <Card padding="xs">
      <Group gap={6} wrap="nowrap">
        {isRunning ? <Loader size={15} /> : <Icon size={15} />}
        <Text size="sm" fw={600} miw="max-content">
          {TITLES[type] ?? type}
        </Text>
        <Text size="sm" c="dimmed" flex={1} className="wrap-anywhere">
          {queries.join(" · ")}
        </Text>
        {status === "failed" && (
          <Badge color="red" variant="light">
            Failed
          </Badge>
        )}
        {texts.length > 0 && (
          <Button
            variant="transparent"
            size="compact-xs"
            px={0}
            aria-expanded={isOpen}
            leftSection={<Chevron size={14} />}
            onClick={toggle}
          >
            {texts.length === 1 ? "1 result" : `${texts.length} results`}
          </Button>
        )}
      </Group>
      {error !== undefined && <Text size="xs">{error}</Text>}
      <Collapse expanded={isOpen}>
        <Stack gap="xs" mt="xs">
          {texts.map(({ title, text, score }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: several chunks of one file may match
            <div key={index}>
              <Text size="xs" fw={600} className="wrap-anywhere">
                {title}
                {score !== undefined && ` (${score.toFixed(3)})`}
              </Text>
              <Text size="xs" className="wrap-anywhere" style={{ whiteSpace: "pre-wrap" }} lineClamp={8}>
                {text}
              </Text>
            </div>
          ))}
        </Stack>
      </Collapse>
    </Card>
  );
}

/** Sources of an answer, below it. */
export function Citations({ citations }: { citations: readonly Citation[] }) {
  return (
    <Group gap="xs" component="section" aria-label="Sources">
      <Text size="xs" c="dimmed">
        Sources
      </Text>
      {citations.map(({ title, url }, index) =>
        url === undefined ? (
          <Badge key={title} variant="light" tt="none">
            {index + 1}. {title}
          </Badge>
        ) : (
          <Anchor key={url} href={url} target="_blank" rel="noreferrer" size="xs" className="wrap-anywhere">
            {index + 1}. {title}
          </Anchor>
        ),
      )}
    </Group>
  );
}
