import { Tabs, Textarea } from "@mantine/core";
import { useState } from "react";
import { request } from "../../api/request.ts";
import { FormDialog } from "../../components/form-dialog.tsx";
import { t } from "../../i18n/translate.ts";
import { CONFIGURATION_QUERIES, type Entry, pathOf } from "./connections-api.ts";
import { ModelFields, type ModelFieldsProps, type ModelFormValues } from "./model-fields.tsx";
import { isJson, type ModelValue, withoutEmpty } from "./model-value.ts";

interface ModelFormProps {
  /** Undefined: a new model. */
  entry?: Entry | undefined;
  close: () => void;
}

const NEW_MODEL: ModelValue = { id: "", task: "chat", deployments: [{}] };

/** Parameters of answers, each of which the form has as an error of the same name. */
const PARAMETERS = ["id", "task", "aliases", "fallbacks", "price", "cache", "guardrails", "retries", "max_queue"];

/** Creates or changes a model: its fields as a form, and all of its settings as text under Advanced. */
export function ModelForm({ entry, close }: ModelFormProps) {
  const isNew = entry === undefined;
  return (
    <FormDialog<ModelFormValues, unknown>
      title={isNew ? t("New model") : entry.name}
      action={isNew ? t("Create model") : t("Save")}
      size="xl"
      onClose={close}
      initial={{ value: isNew ? NEW_MODEL : (entry.value as ModelValue), text: undefined }}
      save={async ({ value, text }) => {
        const model = text === undefined ? withoutEmpty(value) : await parse(text);
        return isNew
          ? request("v1/organization/models", { method: "POST", body: model })
          : request(pathOf(entry), { method: "POST", body: model, headers: { "if-match": `"${entry.version}"` } });
      }}
      done={({ value }) =>
        isNew ? t("{{name}} is added", { name: value.id }) : t("{{name}} is changed", { name: entry.name })
      }
      parameters={Object.fromEntries([...PARAMETERS, "deployments"].map((name) => [name, name]))}
      changes={CONFIGURATION_QUERIES}
    >
      {(form) => <ModelTabs form={form} isNew={isNew} />}
    </FormDialog>
  );
}

/** JSON is YAML, too; the parser is loaded for the latter only. */
async function parse(text: string): Promise<unknown> {
  if (isJson(text)) return JSON.parse(text);
  const { parse: parseYaml } = await import("yaml");
  return parseYaml(text);
}

function ModelTabs({ form, isNew }: ModelFieldsProps) {
  const [tab, setTab] = useState<string | null>("form");
  const { value, text } = form.values;
  const choose = async (next: string | null) => {
    if (next === "advanced") form.setFieldValue("text", JSON.stringify(withoutEmpty(value), undefined, 2));
    else if (text !== undefined) {
      try {
        form.setValues({ value: (await parse(text)) as ModelValue, text: undefined });
      } catch {
        form.setFieldError("text", t("This is neither valid JSON nor valid YAML."));
        return;
      }
    }
    setTab(next);
  };
  return (
    <Tabs value={tab} onChange={(next) => void choose(next)}>
      <Tabs.List mb="md">
        <Tabs.Tab value="form">{t("Form")}</Tabs.Tab>
        <Tabs.Tab value="advanced">{t("Advanced")}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="form">
        <ModelFields form={form} isNew={isNew} />
      </Tabs.Panel>
      <Tabs.Panel value="advanced">
        <Textarea
          label={t("Settings, as in parlance.yaml")}
          description={t("JSON or YAML. [redacted] keeps a stored key.")}
          autosize
          minRows={10}
          maxRows={24}
          spellCheck={false}
          className="code-field"
          value={text ?? ""}
          error={form.errors.text}
          onChange={(event) => form.setFieldValue("text", event.currentTarget.value)}
        />
      </Tabs.Panel>
    </Tabs>
  );
}
