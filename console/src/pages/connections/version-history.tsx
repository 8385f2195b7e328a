import { Button, Code, Group, Modal, Stack, Table, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/request.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { formatAgo } from "../../components/format.ts";
import { notifyDone } from "../../components/notify.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { TableCard } from "../../components/table-card.tsx";
import { msg, t } from "../../i18n/translate.ts";
import { type Comparison, refreshConfiguration, VERSIONS, type Version } from "./connections-api.ts";

const ACTIONS = {
  change: msg("Change", { context: "noun" }),
  restore: msg("Return to an earlier version"),
  import: msg("Several entries"),
} as const;

/** Versions of the configuration, newest first: what each changed, and the way back. */
export function VersionHistory({ versions, mayChange }: { versions: readonly Version[]; mayChange: boolean }) {
  const [compared, setCompared] = useState<number>();
  const client = useQueryClient();
  if (versions.length === 0) return null;
  const restore = async (version: number) => {
    await request(`${VERSIONS}/${version}/restore`, { method: "POST" });
    notifyDone(t("Version {{version}} applies again", { version: String(version) }));
    await refreshConfiguration(client);
  };
  return (
    <>
      <TableCard
        title={t("History")}
        columns={[t("Version"), t("When"), t("Who"), t("What and why")]}
        hasActions
        minWidth={640}
      >
        {versions.map(({ version, created_at, actor, action, reason }, index) => (
          <Table.Tr key={version}>
            <Table.Td>{version}</Table.Td>
            <Table.Td>{formatAgo(created_at)}</Table.Td>
            <Table.Td className="wrap-anywhere">{actor.user_id ?? actor.api_key_id ?? t("operator")}</Table.Td>
            <Table.Td className="wrap-anywhere">{reason ?? t(ACTIONS[action])}</Table.Td>
            <Table.Td>
              <Group gap={4} justify="flex-end" wrap="nowrap">
                <Button
                  size="compact-sm"
                  variant="subtle"
                  aria-label={t("Compare version {{version}}", { version: String(version) })}
                  onClick={() => setCompared(version)}
                >
                  {t("Compare")}
                </Button>
                {mayChange && (
                  <ConfirmButton
                    aria-label={
                      index === 0
                        ? t("Undo version {{version}}", { version: String(version) })
                        : t("Restore version {{version}}", { version: String(version) })
                    }
                    question={
                      index === 0
                        ? t("Undo version {{version}}?", { version: String(version) })
                        : t("Return to version {{version}}?", { version: String(version) })
                    }
                    consequence={t("It becomes a new version, which can be undone, too.")}
                    onConfirm={() => restore(index === 0 ? version - 1 : version)}
                  >
                    {index === 0 ? t("Undo") : t("Restore")}
                  </ConfirmButton>
                )}
              </Group>
            </Table.Td>
          </Table.Tr>
        ))}
      </TableCard>
      {compared !== undefined && <CompareVersion version={compared} close={() => setCompared(undefined)} />}
    </>
  );
}

function CompareVersion({ version, close }: { version: number; close: () => void }) {
  const query = useQuery({
    queryKey: ["configuration", "comparison", version],
    queryFn: ({ signal }) => request<Comparison>(`${VERSIONS}/${version}`, { signal }),
  });
  return (
    <Modal opened onClose={close} title={t("Version {{version}}", { version: String(version) })} size="xl">
      <QueryView query={query}>
        {({ from, changes }) => (
          <Stack>
            <Text size="sm" c="dimmed">
              {t("Compared with version {{from}}", { from: String(from) })}
            </Text>
            {changes.map(({ kind, name, fields, before, after }) => (
              <div key={`${kind} ${name}`}>
                <Text fw={600} className="wrap-anywhere">
                  {kind} {name}: {before === null ? t("added") : after === null ? t("removed") : fields.join(", ")}
                </Text>
                <Group align="flex-start" grow gap="sm">
                  {[before, after].map((value, index) => (
                    <Code block key={index === 0 ? "before" : "after"}>
                      {value === null ? "–" : JSON.stringify(value, undefined, 2)}
                    </Code>
                  ))}
                </Group>
              </div>
            ))}
          </Stack>
        )}
      </QueryView>
    </Modal>
  );
}
