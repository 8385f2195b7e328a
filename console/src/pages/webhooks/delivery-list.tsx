import { Badge, Button, Group, Text, UnstyledButton } from "@mantine/core";
import { useState } from "react";
import { CopyButton } from "../../components/copy-button.tsx";
import { formatAgo, formatDateTime, formatMilliseconds } from "../../components/format.ts";
import { JsonBlock } from "../../components/json-block.tsx";
import { useSave } from "../../components/use-save.ts";
import { msg, plural, t } from "../../i18n/translate.ts";
import { IconChevronDown, IconChevronRight, IconRefresh } from "../../icons.tsx";
import { type Delivery, retryDelivery } from "./webhooks-api.ts";

const STATES = {
  delivered: { color: "teal", label: msg("Delivered") },
  retrying: { color: "orange", label: msg("Retrying") },
  failed: { color: "red", label: msg("Failed") },
} as const;

export function DeliveryList({ deliveries, mayRetry }: { deliveries: readonly Delivery[]; mayRetry: boolean }) {
  return (
    <ul className="deliveries" aria-label={t("Deliveries")}>
      {deliveries.map((delivery) => (
        <DeliveryRow key={delivery.id} delivery={delivery} mayRetry={mayRetry} />
      ))}
    </ul>
  );
}

function DeliveryRow({ delivery, mayRetry }: { delivery: Delivery; mayRetry: boolean }) {
  const [isOpen, setIsOpen] = useState(false);
  const { type, url, state, status, attempts, duration_ms: duration, attempted_at: at } = delivery;
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <li className="delivery">
      <UnstyledButton className="delivery-head" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        <Chevron size={15} />
        <Badge className="delivery-state" variant="dot" color={STATES[state].color} tt="none" fw={500}>
          {t(STATES[state].label)}
        </Badge>
        <span className="delivery-type mono">{type}</span>
        <span className="delivery-url">{url}</span>
        <span className="delivery-facts tabular">
          <b>{status ?? t("no answer")}</b> · {formatMilliseconds(duration)}
          {attempts > 1 && ` · ${plural(attempts, "{{count}} attempt", "{{count}} attempts")}`}
        </span>
        <span className="delivery-time" title={formatDateTime(at)}>
          {formatAgo(at)}
        </span>
      </UnstyledButton>
      {isOpen && <DeliveryDetails delivery={delivery} mayRetry={mayRetry} />}
    </li>
  );
}

function DeliveryDetails({ delivery, mayRetry }: { delivery: Delivery; mayRetry: boolean }) {
  const { id, event_id: event, payload, answer, status } = delivery;
  const retry = useSave({
    save: () => retryDelivery(id),
    done: () => t("The event is sent again"),
    changes: [["webhooks"]],
  });
  return (
    <div className="delivery-details">
      <Group justify="space-between" gap="xs">
        <Group gap={4}>
          <Text size="xs" c="dimmed" className="mono wrap-anywhere">
            {event}
          </Text>
          <CopyButton text={event} label={t("Copy event ID")} />
        </Group>
        {mayRetry && (
          <Button
            size="xs"
            variant="default"
            leftSection={<IconRefresh size={14} />}
            loading={retry.isPending}
            onClick={() => retry.mutate()}
          >
            {t("Send again")}
          </Button>
        )}
      </Group>
      <Block title={t("Body")} text={payload} />
      <Block
        title={status === null ? t("Why there was no answer") : t("Answer {{status}}", { status: String(status) })}
        text={answer === "" ? t("(empty)") : answer}
      />
    </div>
  );
}

function Block({ title, text }: { title: string; text: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed" mb={2}>
        {title}
      </Text>
      <JsonBlock text={text} label={t("Copy")} />
    </div>
  );
}
