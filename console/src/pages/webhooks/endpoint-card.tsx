import { Badge, Button, Card, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { formatAgo, formatNumber } from "../../components/format.ts";
import { useSave } from "../../components/use-save.ts";
import { Trans } from "../../i18n/trans.tsx";
import { t } from "../../i18n/translate.ts";
import { IconLock } from "../../icons.tsx";
import { eventTypesQuery, sendTest, WEBHOOK_QUERIES, type Webhook } from "./webhooks-api.ts";

interface EndpointCardProps {
  webhook: Webhook;
  /** True for an endpoint of parlance.yaml. */
  isLocked: boolean;
  mayChange: boolean;
  onRemove: () => Promise<unknown>;
}

export function EndpointCard({ webhook, isLocked, mayChange, onRemove }: EndpointCardProps) {
  const { url, events, delivered, retrying, failed, pending, last_attempt_at: last } = webhook;
  const types = useQuery(eventTypesQuery).data;
  const test = useSave({
    save: () => sendTest(url),
    done: () => t("The test is sent; its outcome appears below"),
    changes: [["webhooks"]],
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
        <Trans text="<b>{{number}}</b> delivered" tags={{ b: <b /> }} values={{ number: formatNumber(delivered) }} />
        {retrying > 0 && <span> · {t("{{number}} retrying", { number: retrying })}</span>}
        {failed > 0 && <span className="endpoint-failed"> · {t("{{number}} failed", { number: failed })}</span>}
        {pending > retrying && <span> · {t("{{number}} waiting", { number: pending - retrying })}</span>}
      </Text>
      <Text size="xs" c="dimmed">
        {types?.every(({ type }) => events.includes(type)) ? t("All events") : events.join(", ")} ·{" "}
        {total === 0 || last === null ? t("nothing sent yet") : t("last {{time}}", { time: formatAgo(last) })}
      </Text>
      {mayChange && (
        <Group gap={6} mt="sm">
          <Button size="xs" variant="default" loading={test.isPending} onClick={() => test.mutate()}>
            {t("Send a test")}
          </Button>
          {!isLocked && (
            <ConfirmButton
              size="xs"
              question={t("Remove {{host}}?", { host })}
              consequence={t("It gets no further events. The history of the configuration can restore it.")}
              onConfirm={onRemove}
              changes={WEBHOOK_QUERIES}
            >
              {t("Remove")}
            </ConfirmButton>
          )}
        </Group>
      )}
    </Card>
  );
}
