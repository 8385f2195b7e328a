import { Button } from "@mantine/core";
import { lazy, Suspense, useRef, useState } from "react";
import { memo } from "../../../i18n/memo.ts";
import { t } from "../../../i18n/translate.ts";
import { IconChevronDown } from "../../../icons.tsx";
import { ComposerPanel } from "./composer-panel.tsx";
import type { ModelListProps } from "./model-list.tsx";

/** Not part of the first load. */
const ModelList = lazy(async () => ({ default: (await import("./model-list.tsx")).ModelList }));

/** Names the model that answers, and opens the list of models. */
export const ModelPicker = memo(function ModelPicker({ models, value, onChange }: Omit<ModelListProps, "onClose">) {
  const [isOpen, setIsOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setIsOpen(false);
    button.current?.focus();
  };
  const label = value.join(" · ");
  return (
    <>
      <Button
        ref={button}
        variant="subtle"
        color="gray"
        size="compact-sm"
        fw={500}
        className="model-picker"
        data-panel-button
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        aria-label={t("Model: {{name}}", { name: label })}
        rightSection={<IconChevronDown size={13} />}
        onClick={() => setIsOpen(!isOpen)}
      >
        {label}
      </Button>
      {isOpen && (
        <ComposerPanel label={t("Models")} align="end" onClose={close}>
          <Suspense>
            <ModelList models={models} value={value} onChange={onChange} onClose={close} />
          </Suspense>
        </ComposerPanel>
      )}
    </>
  );
});
