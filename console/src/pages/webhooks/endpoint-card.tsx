import { Badge, Button, Card, Group, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { formatAgo, formatNumber } from "../../components/format.ts";
import { notifyDone, notifyFailure } from "../../components/notify.tsx";
import { IconLock } from "../../icons.tsx";
import { eventTypesQuery, sendTest, type Webhook } from "./webhooks-api.ts";

interface EndpointCardProps {
  webhook: Webhook;
  /** True for an endpoint of parlance.yaml. */
  isLocked: boolean;
  mayChange: boolean;
  onRemove: () => Promise<unknown>;
}

export function EndpointCard({ webhook, isLocked, mayChange, onRemove }: EndpointCardProps) {
  const client = useQueryClient();
  const { url, events, delivered, retrying, failed, pending, last_attempt_at: last } = webhook;
  const types = useQuery(eventTypesQuery).data;
  const test = useMutation({
    mutationFn: () => sendTest(url),
    onSuccess: () => notifyDone("The test is sent; its outcome appears below"),
    onError: notifyFailure,
    onSettled: () => client.invalidateQueries({ queryKey: ["webhooks"] }),
  });
  const total = delivered + retrying + failed;
  const { host, pathname } = new URL(url);
  return (
    <Card component="article" aria-label={url} className="endpoint">
      <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
        <Text fw={600} className="wrap-anywhere">
          {host}
        </Text>
        {isLocked && (
          <Badge variant="default" tt="none" leftSection={<IconLock size={11} />} style={{ flexShrink: 0 }}>
            parlance.yaml
          </Badge>
        )}
      </Group>
      <Text size="xs" c="dimmed" className="mono wrap-anywhere">
        {pathname}
      </Text>
      <div className="endpoint-bar" aria-hidden="true">
        {Object.entries({ delivered, retrying, failed }).map(
          ([state, count]) => count > 0 && <span key={state} data-state={state} style={{ flexGrow: count }} />,
        )}
      </div>
      <Text size="sm" className="tabular">
        <b>{formatNumber(delivered)}</b> delivered
        {retrying > 0 && <span> · {formatNumber(retrying)} retrying</span>}
        {failed > 0 && <span className="endpoint-failed"> · {formatNumber(failed)} failed</span>}
        {pending > retrying && <span> · {formatNumber(pending - retrying)} waiting</span>}
      </Text>
      <Text size="xs" c="dimmed">
        {types?.every(({ type }) => events.includes(type)) ? "All events" : events.join(", ")} ·{" "}
        {total === 0 || last === null ? "nothing sent yet" : `last ${formatAgo(last)}`}
      </Text>
      {mayChange && (
        <Group gap={6} mt="sm">
          <Button size="xs" variant="default" loading={test.isPending} onClick={() => test.mutate()}>
            Send a test
          </Button>
          {!isLocked && (
            <ConfirmButton
              size="xs"
              question={`Remove ${host}?`}
              consequence="It gets no further events. The history of the configuration can restore it."
              onConfirm={onRemove}
            >
              Remove
            </ConfirmButton>
          )}
        </Group>
      )}
    </Card>
  );
}
