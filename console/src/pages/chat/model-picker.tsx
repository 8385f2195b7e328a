import { type ComboboxItem, MultiSelect } from "@mantine/core";
import { useCallback } from "react";
import type { ModelEntry } from "../../api/models.ts";
import { formatCompact, formatPerMillion } from "../../components/format.ts";
import { memo } from "../../i18n/memo.ts";
import { t } from "../../i18n/translate.ts";

interface ModelPickerProps {
  models: ModelEntry[];
  value: string[];
  onChange: (models: string[]) => void;
}

const MAX_MODELS = 4;
/** Options that are drawn; typing finds the others. */
const MAX_OPTIONS = 60;

/** Chooses the models that answer, by name, state, context and price. */
export const ModelPicker = memo(function ModelPicker({ models, value, onChange }: ModelPickerProps) {
  const renderOption = useCallback(
    ({ option }: { option: ComboboxItem }) => (
      <Option id={option.value} model={models.find(({ id }) => id === option.value)} />
    ),
    [models],
  );
  return (
    <MultiSelect
      flex="1 1 280px"
      miw={0}
      aria-label={t("Models")}
      data={models.map(({ id }) => id)}
      limit={MAX_OPTIONS}
      value={value}
      maxValues={MAX_MODELS}
      searchable
      hidePickedOptions
      nothingFoundMessage={t("No model has this name")}
      maxDropdownHeight={380}
      renderOption={renderOption}
      onChange={(next) => next.length > 0 && onChange(next)}
    />
  );
});

function Option({ id, model }: { id: string; model: ModelEntry | undefined }) {
  const { metadata } = model ?? {};
  const details = [
    metadata?.context_window ? t("{{tokens}} context", { tokens: formatCompact(metadata.context_window) }) : undefined,
    metadata && priceOf(metadata.pricing),
  ].filter((part) => part !== undefined);
  return (
    <div className="model-option">
      <span className="model-dot" data-state={stateOf(metadata)} aria-hidden="true" />
      <span className="model-option-name">{id}</span>
      <span className="cell-detail tabular nowrap" aria-hidden="true">
        {details.join(" · ")}
      </span>
    </div>
  );
}

/** Prices of a million prompt and completion tokens. */
function priceOf({ prompt, completion, currency }: ModelEntry["metadata"]["pricing"]): string {
  if (prompt == null || completion == null) return t("No price");
  const [input, output] = [formatPerMillion(prompt, currency), formatPerMillion(completion, currency)];
  return t("{{input}} → {{output}} per million", { input, output });
}

function stateOf(metadata: ModelEntry["metadata"] | undefined): "up" | "unloaded" | "down" {
  if (metadata === undefined || metadata.status === "unavailable") return "down";
  return metadata.loaded ? "up" : "unloaded";
}
