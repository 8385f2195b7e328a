import { Button, Group, Select, Switch, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { request } from "../../api/request.ts";
import { FieldForm } from "../../components/field-form.tsx";
import { formatCompact } from "../../components/format.ts";
import { type Column, ResourceTable } from "../../components/resource-table.tsx";
import { TASK_NAMES } from "../../components/task-names.ts";
import { useSave } from "../../components/use-save.ts";
import { t } from "../../i18n/translate.ts";
import { CONFIGURATION_QUERIES, type Host } from "./connections-api.ts";
import { type ChosenModel, hostEntries } from "./host-entries.ts";
import { perToken } from "./per-token.ts";

interface HostModelsProps {
  host: Host;
  apiKey: string;
  onSaved: () => void;
}

type HostModel = Host["models"][number];

/** Models of a host: which to serve, for which task, under which ID and at which price. */
export function HostModels({ host, apiKey, onSaved }: HostModelsProps) {
  const form = useForm({ initialValues: { name: suggestName(host) } });
  const [chosen, setChosen] = useState<Readonly<Record<string, ChosenModel>>>({});
  const save = useSave({
    save: ({ name }: { name: string }) =>
      request("v1/organization/configuration/import", {
        method: "POST",
        // untranslated: stored in the history, for everyone
        query: { reason: `Connected ${host.base_url}` },
        body: { entries: hostEntries(name, host, apiKey, Object.values(chosen)) },
      }),
    done: ({ name }) => t("{{name}} is connected", { name }),
    changes: CONFIGURATION_QUERIES,
    form,
    onSaved,
  });
  const change = (model: HostModel, changes: Partial<ChosenModel>) =>
    setChosen((before) => {
      const entry = before[model.id];
      return entry === undefined ? before : { ...before, [model.id]: { ...entry, ...changes } };
    });
  const toggle = (model: HostModel, isOn: boolean) => {
    const { [model.id]: _removed, ...rest } = chosen;
    const added = { model, id: model.id, task: model.task ?? "chat", promptPrice: "", completionPrice: "" };
    setChosen(isOn ? { ...chosen, [model.id]: added } : rest);
  };
  const isValid = Object.values(chosen).every((each) => isPrice(each.promptPrice) && isPrice(each.completionPrice));
  return (
    <FieldForm form={form} saving={save} label={t("Models of {{host}}", { host: host.base_url })}>
      <TextInput
        label={t("Name of the connection")}
        description={t("Deployments refer to it.")}
        maw={320}
        required
        {...form.getInputProps("name")}
      />
      <ResourceTable
        isBare
        rows={host.models}
        keyOf={({ id }) => id}
        minWidth={960}
        empty={<Text size="sm">{t("The host lists no models.")}</Text>}
        columns={[
          {
            label: t("Serve"),
            className: "wrap-anywhere",
            sortBy: ({ id }) => id,
            cell: (model) => (
              <Switch
                label={model.id}
                checked={chosen[model.id] !== undefined}
                onChange={(event) => toggle(model, event.currentTarget.checked)}
              />
            ),
          },
          {
            label: t("Task"),
            minWidth: 150,
            cell: (model) => (
              <Select
                size="xs"
                aria-label={t("Task of {{id}}", { id: model.id })}
                allowDeselect={false}
                disabled={chosen[model.id] === undefined}
                data={Object.entries(TASK_NAMES).map(([value, name]) => ({ value, label: t(name) }))}
                value={chosen[model.id]?.task ?? model.task ?? "chat"}
                onChange={(task) => change(model, { task: task as ChosenModel["task"] })}
              />
            ),
          },
          {
            label: t("Vision"),
            cell: ({ abilities: { vision } }) =>
              vision === null ? t("unknown: it is tried") : vision ? t("yes") : t("no"),
          },
          { label: t("Abilities"), cell: abilitiesOf },
          {
            label: t("Context"),
            isNumeric: true,
            cell: ({ context_window: tokens }) => (tokens === null ? t("unknown") : formatCompact(tokens)),
          },
          field("id", t("ID for clients")),
          field("promptPrice", t("$ / million in")),
          field("completionPrice", t("$ / million out")),
        ]}
      />
      <Group justify="flex-end">
        <Button type="submit" loading={save.isPending} disabled={!isValid}>
          {t("Save connection")}
        </Button>
      </Group>
    </FieldForm>
  );

  function field(name: "id" | "promptPrice" | "completionPrice", label: string): Column<HostModel> {
    return {
      label,
      minWidth: name === "id" ? 180 : 110,
      cell: (model) => {
        const entry = chosen[model.id];
        const isWrong = name !== "id" && entry !== undefined && !isPrice(entry[name]);
        return (
          <TextInput
            size="xs"
            aria-label={labelOf(name, model.id)}
            disabled={entry === undefined}
            error={isWrong && t("A number, such as 0.15")}
            value={entry?.[name] ?? ""}
            onChange={(event) => change(model, { [name]: event.currentTarget.value })}
          />
        );
      },
    };
  }
}

function isPrice(text: string): boolean {
  return text === "" || perToken(text) !== undefined;
}

function labelOf(field: "id" | "promptPrice" | "completionPrice", id: string): string {
  if (field === "id") return t("ID of {{id}}", { id });
  return field === "promptPrice" ? t("Price of input of {{id}}", { id }) : t("Price of output of {{id}}", { id });
}

function abilitiesOf({ abilities: { tools, reasoning } }: HostModel): string {
  const words = [...(tools === true ? [t("tools")] : []), ...(reasoning === true ? [t("reasoning")] : [])];
  return words.join(", ") || "—";
}

function suggestName({ kind, base_url }: Host): string {
  const { hostname, port } = new URL(base_url);
  const isLocal = hostname === "127.0.0.1" || hostname === "localhost" || hostname.startsWith("[");
  const place = isLocal ? port : hostname;
  return `${kind}-${place}`.replace(/[^\w.-]/g, "-").slice(0, 64);
}
