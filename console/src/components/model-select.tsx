import { Select } from "@mantine/core";
import type { ModelEntry } from "../api/models.ts";
import { t } from "../i18n/translate.ts";

interface ModelSelectProps {
  models: readonly ModelEntry[];
  value: string;
  onChange: (model: string) => void;
}

/** One of the models of a page of the playground. */
export function ModelSelect({ models, value, onChange }: ModelSelectProps) {
  return (
    <Select
      label={t("Model")}
      data={models.map(({ id }) => id)}
      allowDeselect={false}
      value={value}
      onChange={(model) => onChange(model ?? value)}
    />
  );
}
