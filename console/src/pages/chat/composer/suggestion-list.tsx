import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type RefObject, useEffect, useImperativeHandle } from "react";
import { t } from "../../../i18n/translate.ts";
import { IconDatabase, IconTemplate } from "../../../icons.tsx";
import { promptsQuery } from "../../prompts/prompts-api.ts";
import { storesQuery } from "../../stores/stores-api.ts";
import type { Suggestion } from "./suggestion.ts";
import { useListbox } from "./use-listbox.ts";

/** What the text field needs of the list below which it stands. */
export interface SuggestionKeys {
  onKey: ReturnType<typeof useListbox>["onKey"];
}

interface SuggestionListProps {
  suggestion: Suggestion;
  keys: RefObject<SuggestionKeys | null>;
  onChoose: (id: string) => void;
  /** Tells the text field which option is active. */
  onActive: (ids: { list: string; option: string | undefined } | undefined) => void;
}

const MAX_OPTIONS = 20;

/** Stores or prompts that fit what is typed. */
export function SuggestionList({ suggestion: { kind, search }, keys, onChoose, onActive }: SuggestionListProps) {
  const stores = useQuery({ ...storesQuery, enabled: kind === "store" });
  const prompts = useQuery({ ...promptsQuery, enabled: kind === "prompt" });
  const entries =
    kind === "store"
      ? (stores.data ?? [])
          .filter(({ status }) => status !== "expired")
          .map(({ id, name }) => ({ id, name: name || id }))
      : (prompts.data ?? []).map(({ id, name }) => ({ id, name }));
  const matches = entries.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase())).slice(0, MAX_OPTIONS);
  const choose = (index: number) => {
    const id = matches[index]?.id;
    if (id !== undefined) onChoose(id);
  };
  const { id, active, activeId, setActive, onKey } = useListbox(matches.length, choose, search);
  useImperativeHandle(keys, () => ({ onKey }));
  useEffect(() => {
    onActive({ list: id, option: activeId });
    return () => onActive(undefined);
  }, [id, activeId, onActive]);
  const Icon = kind === "store" ? IconDatabase : IconTemplate;
  const isReading = kind === "store" ? stores.isPending : prompts.isPending;
  return (
    <>
      <div
        role="listbox"
        id={id}
        aria-label={kind === "store" ? t("Vector stores") : t("Prompts")}
        className="option-list"
      >
        {matches.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys reach the options through the text field
          // biome-ignore lint/a11y/useFocusableInteractive: as `aria-activedescendant`
          <div
            key={entry.id}
            role="option"
            id={`${id}-${index}`}
            aria-selected={index === active}
            data-active={index === active || undefined}
            className="list-option"
            onPointerMove={() => setActive(index)}
            onClick={() => choose(index)}
          >
            <Icon size={15} />
            <span className="model-option-name">{entry.name}</span>
          </div>
        ))}
      </div>
      {matches.length === 0 && !isReading && (
        <Text size="sm" c="dimmed" px={8} role="status">
          {kind === "store" ? t("No store has this name.") : t("No prompt has this name.")}
        </Text>
      )}
    </>
  );
}
