import { Button, Card, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { JsonBlock } from "../../../components/json-block.tsx";
import { Trans } from "../../../i18n/trans.tsx";
import { t } from "../../../i18n/translate.ts";
import { IconShieldCheck } from "../../../icons.tsx";
import { useProjectServers } from "../../mcp/mcp-api.ts";
import type { Approval, McpToolName, ServiceCall } from "./service-tools.ts";

interface ApprovalFormProps {
  calls: readonly ServiceCall[];
  /** `allowed`: tools that are called without a question from now on. */
  onDecide: (approvals: Approval[], allowed: McpToolName[]) => void;
}

interface Decision {
  approve: boolean;
  isLasting: boolean;
}

/** Calls that wait for a decision; the model goes on once all of them have one. */
export function ApprovalForm({ calls, onDecide }: ApprovalFormProps) {
  const [decisions, setDecisions] = useState<Readonly<Record<string, Decision>>>({});
  const servers = useProjectServers();
  const decide = (id: string, decision: Decision) => {
    const next = { ...decisions, [id]: decision };
    setDecisions(next);
    if (calls.some((call) => next[call.id] === undefined)) return;
    const approvals = calls.flatMap((call) =>
      call.mcp === undefined ? [] : [{ ...call.mcp, id: call.id, approve: next[call.id]?.approve === true }],
    );
    const allowed = calls.flatMap((call) => (next[call.id]?.isLasting && call.mcp ? [call.mcp] : []));
    onDecide(approvals, allowed);
  };
  return (
    <Stack gap="xs">
      {calls.map((call) => {
        const server = servers.find(({ id }) => id === call.mcp?.server);
        return (
          <ApprovalCard
            key={call.id}
            call={call}
            decision={decisions[call.id]}
            mayLast={server?.require_approval !== "always"}
            onDecide={(decision) => decide(call.id, decision)}
          />
        );
      })}
    </Stack>
  );
}

interface ApprovalCardProps {
  call: ServiceCall;
  decision: Decision | undefined;
  /** Whether the operator admits calls without a question. */
  mayLast: boolean;
  onDecide: (decision: Decision) => void;
}

function ApprovalCard({ call, decision, mayLast, onDecide }: ApprovalCardProps) {
  const { server = "", tool = "" } = call.mcp ?? {};
  return (
    <Card padding="sm" role="group" aria-label={t("Approve {{tool}} of {{server}}", { tool, server })}>
      <Group gap={6} mb={6} wrap="nowrap">
        <IconShieldCheck size={16} />
        <Text size="sm" className="wrap-anywhere">
          <Trans
            text="May the model call <b>{{tool}}</b> of {{server}}?"
            tags={{ b: <b /> }}
            values={{ tool, server }}
          />
        </Text>
      </Group>
      <JsonBlock text={call.input ?? ""} label={t("Copy the arguments")} />
      {decision === undefined ? (
        <Group gap="xs" mt="sm">
          <Button size="xs" onClick={() => onDecide({ approve: true, isLasting: false })}>
            {t("Approve")}
          </Button>
          <Button size="xs" variant="default" onClick={() => onDecide({ approve: false, isLasting: false })}>
            {t("Refuse")}
          </Button>
          {mayLast && (
            <Button size="xs" variant="subtle" onClick={() => onDecide({ approve: true, isLasting: true })}>
              {t("Always allow in this conversation")}
            </Button>
          )}
        </Group>
      ) : (
        <Text size="sm" c="dimmed" mt="sm">
          {decision.approve ? t("Approved") : t("Refused")}
        </Text>
      )}
    </Card>
  );
}
