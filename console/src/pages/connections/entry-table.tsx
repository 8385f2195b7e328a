import { Badge, Button, Card, Group, JsonInput, Modal, Stack, Table, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/request.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { Empty } from "../../components/empty.tsx";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { notifyDone } from "../../components/notify.tsx";
import { TableCard } from "../../components/table-card.tsx";
import { type Message, msg, t } from "../../i18n/translate.ts";
import { IconServer } from "../../icons.tsx";
import { bodyOf, type Entry, pathOf, refreshConfiguration } from "./connections-api.ts";

const STATUS = {
  in_force: { color: "teal", label: msg("In force") },
  shadowed: { color: "gray", label: msg("Shadowed") },
  invalid: { color: "red", label: msg("Not applied") },
  ignored: { color: "gray", label: msg("Ignored") },
} as const;

const KINDS: Readonly<Record<Entry["kind"], Message>> = {
  model: msg("model"),
  connection: msg("connection"),
  mcp_server: msg("MCP server"),
  setting: msg("setting"),
};

/** Entries of the file, which are locked, and of the API. */
export function EntryTable({ entries, mayChange }: { entries: readonly Entry[]; mayChange: boolean }) {
  const [edited, setEdited] = useState<Entry>();
  const client = useQueryClient();
  if (entries.length === 0) {
    return (
      <Card>
        <Empty icon={<IconServer />} title={t("No models or connections are configured")}>
          {t("Connect a host above, or add models to parlance.yaml.")}
        </Empty>
      </Card>
    );
  }
  const remove = async (entry: Entry) => {
    await request(entry.kind === "model" ? `${pathOf(entry)}/entry` : pathOf(entry), { method: "DELETE" });
    notifyDone(t("{{name}} is removed", { name: entry.name }));
    await refreshConfiguration(client);
  };
  return (
    <>
      <TableCard
        title={t("Configured")}
        columns={[t("Name"), t("Kind"), t("Source"), t("Status")]}
        hasActions
        minWidth={640}
      >
        {entries.map((entry) => (
          <Table.Tr key={`${entry.source} ${entry.id}`}>
            <Table.Td className="wrap-anywhere">{entry.name}</Table.Td>
            <Table.Td>{t(KINDS[entry.kind])}</Table.Td>
            <Table.Td>{entry.source === "file" ? t("parlance.yaml (locked)") : "API"}</Table.Td>
            <Table.Td>
              <Badge variant="dot" color={STATUS[entry.status].color} tt="none">
                {t(STATUS[entry.status].label)}
              </Badge>
              {entry.problem !== null && (
                <Text size="xs" c="dimmed" className="wrap-anywhere">
                  {entry.problem}
                </Text>
              )}
            </Table.Td>
            <Table.Td>
              <Group gap={4} justify="flex-end" wrap="nowrap">
                <Button
                  size="compact-sm"
                  variant="subtle"
                  aria-label={
                    entry.source === "api" && mayChange
                      ? t("Edit {{name}}", { name: entry.name })
                      : t("Show {{name}}", { name: entry.name })
                  }
                  onClick={() => setEdited(entry)}
                >
                  {entry.source === "api" && mayChange ? t("Edit") : t("Show")}
                </Button>
                {entry.source === "api" && mayChange && (
                  <ConfirmButton
                    question={t("Remove {{name}}?", { name: entry.name })}
                    consequence={t(
                      "Requests that run end normally, further ones are refused. The history can restore it.",
                    )}
                    onConfirm={() => remove(entry)}
                  >
                    {t("Remove")}
                  </ConfirmButton>
                )}
              </Group>
            </Table.Td>
          </Table.Tr>
        ))}
      </TableCard>
      {edited !== undefined && (
        <EditEntry
          key={`${edited.source} ${edited.id}`}
          entry={edited}
          isLocked={edited.source === "file" || !mayChange}
          close={() => setEdited(undefined)}
        />
      )}
    </>
  );
}

function EditEntry({ entry, isLocked, close }: { entry: Entry; isLocked: boolean; close: () => void }) {
  const [text, setText] = useState(() => JSON.stringify(entry.value, undefined, 2));
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: () =>
      request(pathOf(entry), {
        method: "POST",
        body: bodyOf(entry, JSON.parse(text)),
        headers: { "if-match": `"${entry.version}"` },
      }),
    onSuccess: async () => {
      close();
      notifyDone(t("{{name}} is changed", { name: entry.name }));
      await refreshConfiguration(client);
    },
  });
  return (
    <Modal opened onClose={close} title={entry.name} size="lg">
      <Stack>
        <JsonInput
          label={isLocked ? t("Set in parlance.yaml") : t("Settings, as in parlance.yaml")}
          description={isLocked ? t("Change the file and reload it.") : t("[redacted] keeps a stored key.")}
          autosize
          minRows={8}
          maxRows={24}
          readOnly={isLocked}
          validationError={t("This is not valid JSON.")}
          value={text}
          onChange={setText}
        />
        {save.error !== null && <ErrorAlert error={save.error} />}
        {!isLocked && (
          <Group justify="flex-end">
            <Button loading={save.isPending} disabled={!isJson(text)} onClick={() => save.mutate()}>
              {t("Save")}
            </Button>
          </Group>
        )}
      </Stack>
    </Modal>
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
