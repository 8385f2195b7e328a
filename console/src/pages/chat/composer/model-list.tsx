import { Stack, Switch, Text, TextInput } from "@mantine/core";
import { useMemo, useState } from "react";
import type { ModelEntry } from "../../../api/models.ts";
import { formatCompact, formatPerMillion } from "../../../components/format.ts";
import { t } from "../../../i18n/translate.ts";
import { IconCheck, IconSearch } from "../../../icons.tsx";
import { useListbox } from "./use-listbox.ts";

export interface ModelListProps {
  models: ModelEntry[];
  value: string[];
  onChange: (models: string[]) => void;
  onClose: () => void;
}

const MAX_MODELS = 4;
/** Options that are drawn; typing finds the others. */
const MAX_OPTIONS = 60;

/** Chooses the model that answers, by name, state, context and price, or several that are compared. */
export function ModelList({ models, value, onChange, onClose }: ModelListProps) {
  const [search, setSearch] = useState("");
  const [isComparing, setIsComparing] = useState(value.length > 1);
  const matches = useMemo(() => {
    const text = search.trim().toLowerCase();
    return models.filter(({ id }) => id.toLowerCase().includes(text)).slice(0, MAX_OPTIONS);
  }, [models, search]);
  const choose = (index: number) => {
    const id = matches[index]?.id;
    if (id === undefined) return;
    if (!isComparing) {
      onChange([id]);
      onClose();
      return;
    }
    const next = value.includes(id) ? value.filter((each) => each !== id) : [...value, id];
    if (next.length > 0 && next.length <= MAX_MODELS) onChange(next);
  };
  const { id, active, activeId, setActive, onKey } = useListbox(matches.length, choose, search);
  return (
    <Stack gap={6}>
      <TextInput
        data-autofocus
        autoFocus
        size="xs"
        role="combobox"
        aria-label={t("Models")}
        aria-expanded
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={activeId}
        placeholder={t("Search models")}
        leftSection={<IconSearch size={14} />}
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (onKey(event)) event.preventDefault();
        }}
      />
      <div
        role="listbox"
        id={id}
        aria-label={t("Models")}
        aria-multiselectable={isComparing}
        className="option-list"
        tabIndex={0}
      >
        {matches.map((model, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys reach the options through the field
          // biome-ignore lint/a11y/useFocusableInteractive: as `aria-activedescendant`
          <div
            key={model.id}
            role="option"
            id={`${id}-${index}`}
            aria-selected={value.includes(model.id)}
            data-active={index === active || undefined}
            className="list-option"
            onPointerMove={() => setActive(index)}
            onClick={() => choose(index)}
          >
            <Option model={model} isChosen={value.includes(model.id)} />
          </div>
        ))}
      </div>
      {matches.length === 0 && (
        <Text size="sm" c="dimmed" px={8} role="status">
          {t("No model has this name")}
        </Text>
      )}
      <Switch
        size="xs"
        px={8}
        py={4}
        label={t("Compare up to {{number}} models", { number: MAX_MODELS })}
        checked={isComparing}
        onChange={(event) => {
          setIsComparing(event.currentTarget.checked);
          const [first] = value;
          if (!event.currentTarget.checked && first !== undefined) onChange([first]);
        }}
      />
    </Stack>
  );
}

function Option({ model, isChosen }: { model: ModelEntry; isChosen: boolean }) {
  const { metadata } = model;
  const details = [
    metadata.context_window ? t("{{tokens}} context", { tokens: formatCompact(metadata.context_window) }) : undefined,
    priceOf(metadata.pricing),
  ].filter((part) => part !== undefined);
  return (
    <div className="model-option">
      <span className="model-dot" data-state={stateOf(metadata)} aria-hidden="true" />
      <span className="model-option-name">{model.id}</span>
      <span className="cell-detail tabular nowrap" aria-hidden="true">
        {details.join(" · ")}
      </span>
      <span className="option-check" aria-hidden="true">
        {isChosen && <IconCheck size={14} />}
      </span>
    </div>
  );
}

/** Prices of a million prompt and completion tokens; undefined: the catalog has none. */
function priceOf({ prompt, completion, currency }: ModelEntry["metadata"]["pricing"]): string | undefined {
  if (prompt == null || completion == null) return undefined;
  const [input, output] = [formatPerMillion(prompt, currency), formatPerMillion(completion, currency)];
  return t("{{input}} → {{output}} per million", { input, output });
}

function stateOf(metadata: ModelEntry["metadata"]): "up" | "unloaded" | "down" {
  if (metadata.status === "unavailable") return "down";
  return metadata.loaded ? "up" : "unloaded";
}
