import { Button, Group, Stack, Switch, Table, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/request.ts";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { formatCompact } from "../../components/format.ts";
import { t } from "../../i18n/translate.ts";
import type { Host } from "./connections-api.ts";
import { type ChosenModel, hostEntries } from "./host-entries.ts";
import { perToken } from "./per-token.ts";

interface HostModelsProps {
  host: Host;
  apiKey: string;
  onSaved: (message: string) => Promise<void>;
}

/** Models of a host: which to serve, under which ID and at which price. */
export function HostModels({ host, apiKey, onSaved }: HostModelsProps) {
  const [name, setName] = useState(suggestName(host));
  const [chosen, setChosen] = useState<Readonly<Record<string, ChosenModel>>>({});
  const save = useMutation({
    mutationFn: () =>
      request("v1/organization/configuration/import", {
        method: "POST",
        // untranslated: stored in the history, for everyone
        query: { reason: `Connected ${host.base_url}` },
        body: { entries: hostEntries(name, host, apiKey, Object.values(chosen)) },
      }),
    onSuccess: () => onSaved(t("{{name}} is connected", { name })),
  });
  const change = (id: string, changes: Partial<ChosenModel>) =>
    setChosen((before) => {
      const entry = before[id];
      return entry === undefined ? before : { ...before, [id]: { ...entry, ...changes } };
    });
  const isPrice = (text: string) => text === "" || perToken(text) !== undefined;
  const isValid = Object.values(chosen).every((each) => isPrice(each.promptPrice) && isPrice(each.completionPrice));
  return (
    <Stack>
      <TextInput
        label={t("Name of the connection")}
        description={t("Deployments refer to it.")}
        maw={320}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Table.ScrollContainer minWidth={820} tabIndex={0}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t("Serve")}</Table.Th>
              <Table.Th>{t("Context")}</Table.Th>
              <Table.Th>{t("Abilities")}</Table.Th>
              <Table.Th>{t("ID for clients")}</Table.Th>
              <Table.Th>{t("$ / million in")}</Table.Th>
              <Table.Th>{t("$ / million out")}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {host.models.map((model) => {
              const entry = chosen[model.id];
              const toggle = (isOn: boolean) => {
                const { [model.id]: _removed, ...rest } = chosen;
                const added = { model, id: model.id, promptPrice: "", completionPrice: "" };
                setChosen(isOn ? { ...chosen, [model.id]: added } : rest);
              };
              return (
                <Table.Tr key={model.id}>
                  <Table.Td className="wrap-anywhere">
                    <Switch
                      label={model.id}
                      checked={entry !== undefined}
                      onChange={(event) => toggle(event.currentTarget.checked)}
                    />
                  </Table.Td>
                  <Table.Td>
                    {model.context_window === null ? t("unknown") : formatCompact(model.context_window)}
                  </Table.Td>
                  <Table.Td>{abilitiesOf(model)}</Table.Td>
                  {(["id", "promptPrice", "completionPrice"] as const).map((field) => (
                    <Table.Td key={field}>
                      <TextInput
                        size="xs"
                        aria-label={labelOf(field, model.id)}
                        disabled={entry === undefined}
                        error={field !== "id" && entry !== undefined && !isPrice(entry[field])}
                        value={entry?.[field] ?? ""}
                        onChange={(event) => change(model.id, { [field]: event.currentTarget.value })}
                      />
                    </Table.Td>
                  ))}
                </Table.Tr>
              );
            })}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {save.error !== null && <ErrorAlert error={save.error} />}
      <Group justify="flex-end">
        <Button loading={save.isPending} disabled={!isValid || name === ""} onClick={() => save.mutate()}>
          {t("Save connection")}
        </Button>
      </Group>
    </Stack>
  );
}

function labelOf(field: "id" | "promptPrice" | "completionPrice", id: string): string {
  if (field === "id") return t("ID of {{id}}", { id });
  return field === "promptPrice" ? t("Price of input of {{id}}", { id }) : t("Price of output of {{id}}", { id });
}

function abilitiesOf({ task, abilities }: Host["models"][number]): string {
  const words = Object.entries(abilities).flatMap(([ability, has]) => (has === true ? [ability] : []));
  return [...(task === "embedding" ? [t("embeddings")] : []), ...words].join(", ") || t("unknown");
}

function suggestName({ kind, base_url }: Host): string {
  const { hostname, port } = new URL(base_url);
  const isLocal = hostname === "127.0.0.1" || hostname === "localhost" || hostname.startsWith("[");
  const place = isLocal ? port : hostname;
  return `${kind}-${place}`.replace(/[^\w.-]/g, "-").slice(0, 64);
}
