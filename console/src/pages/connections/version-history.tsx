import { Button, Code, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/request.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { formatAgo, formatDateTime } from "../../components/format.ts";
import { QueryView } from "../../components/query-view.tsx";
import { ResourceTable } from "../../components/resource-table.tsx";
import { msg, t } from "../../i18n/translate.ts";
import { useNames } from "../people/use-names.ts";
import { CONFIGURATION_QUERIES, type Comparison, VERSIONS, type Version } from "./connections-api.ts";

const ACTIONS = {
  change: msg("Change", { context: "noun" }),
  restore: msg("Return to an earlier version"),
  import: msg("Several entries"),
} as const;

/** Versions of the configuration, newest first: what each changed, and the way back. */
export function VersionHistory({ versions, mayChange }: { versions: readonly Version[]; mayChange: boolean }) {
  const [compared, setCompared] = useState<number>();
  const names = useNames();
  if (versions.length === 0) return null;
  return (
    <>
      <ResourceTable
        title={t("History")}
        rows={versions}
        keyOf={({ version }) => String(version)}
        minWidth={640}
        empty={null}
        columns={[
          { label: t("Version"), className: "tabular", cell: ({ version }) => version },
          {
            label: t("When"),
            className: "nowrap",
            hint: ({ created_at: time }) => formatDateTime(time),
            cell: ({ created_at: time }) => formatAgo(time),
          },
          {
            label: t("Who"),
            className: "wrap-anywhere",
            cell: ({ actor }) => {
              const id = actor.user_id ?? actor.api_key_id;
              return id === null ? t("operator") : (names.get(id) ?? id);
            },
          },
          {
            label: t("What and why"),
            className: "wrap-anywhere",
            cell: ({ reason, action }) => reason ?? t(ACTIONS[action]),
          },
        ]}
        actions={({ version }) => (
          <VersionActions
            version={version}
            isNewest={version === versions[0]?.version}
            mayChange={mayChange}
            compare={() => setCompared(version)}
          />
        )}
      />
      {compared !== undefined && <CompareVersion version={compared} close={() => setCompared(undefined)} />}
    </>
  );
}

interface VersionActionsProps {
  version: number;
  isNewest: boolean;
  mayChange: boolean;
  compare: () => void;
}

function VersionActions({ version, isNewest, mayChange, compare }: VersionActionsProps) {
  const name = { version: String(version) };
  const restored = isNewest ? version - 1 : version;
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <Button size="compact-sm" variant="subtle" aria-label={t("Compare version {{version}}", name)} onClick={compare}>
        {t("Compare")}
      </Button>
      {mayChange && (
        <ConfirmButton
          aria-label={isNewest ? t("Undo version {{version}}", name) : t("Restore version {{version}}", name)}
          question={isNewest ? t("Undo version {{version}}?", name) : t("Return to version {{version}}?", name)}
          consequence={t("It becomes a new version, which can be undone, too.")}
          onConfirm={() => request(`${VERSIONS}/${restored}/restore`, { method: "POST" })}
          done={t("Version {{version}} applies again", { version: String(restored) })}
          changes={CONFIGURATION_QUERIES}
        >
          {isNewest ? t("Undo") : t("Restore")}
        </ConfirmButton>
      )}
    </Group>
  );
}

function CompareVersion({ version, close }: { version: number; close: () => void }) {
  const query = useQuery({
    queryKey: ["configuration", "comparison", version],
    queryFn: ({ signal }) => request<Comparison>(`${VERSIONS}/${version}`, { signal }),
  });
  return (
    <Dialog onClose={close} title={t("Version {{version}}", { version: String(version) })} size="xl">
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
    </Dialog>
  );
}
