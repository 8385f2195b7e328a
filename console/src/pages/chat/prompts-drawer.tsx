import { ActionIcon } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { lazy, Suspense } from "react";
import { SideDrawer } from "../../components/side-drawer.tsx";
import { Tooltip } from "../../components/tooltip.tsx";
import { t } from "../../i18n/translate.ts";
import { IconTemplate } from "../../icons.tsx";
import type { PromptsPanelProps } from "./prompts-panel.tsx";

/** Not part of the first load. */
const PromptsPanel = lazy(async () => ({ default: (await import("./prompts-panel.tsx")).PromptsPanel }));

/** Button that opens the project's stored prompts, and stores the settings of the chat as one. */
export function PromptsDrawer({ conversation, onUse }: PromptsPanelProps) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Tooltip label={t("Prompts")}>
        <ActionIcon variant="default" size={36} aria-label={t("Prompts")} onClick={open}>
          <IconTemplate size={16} />
        </ActionIcon>
      </Tooltip>
      {isOpen && (
        <Suspense>
          <SideDrawer opened onClose={close} position="right" title={t("Prompts of the project")} size="sm">
            <PromptsPanel
              conversation={conversation}
              onUse={(prompt) => {
                close();
                onUse(prompt);
              }}
            />
          </SideDrawer>
        </Suspense>
      )}
    </>
  );
}
