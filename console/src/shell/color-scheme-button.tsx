import { ActionIcon, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { useCallback } from "react";
import { Tooltip } from "../components/tooltip.tsx";
import { t } from "../i18n/translate.ts";
import { IconMoon, IconSun } from "../icons.tsx";

/** The theme that is not in use, the label of an action that changes to it, and its function. */
export function useOtherScheme() {
  const { setColorScheme } = useMantineColorScheme();
  const other = useComputedColorScheme("light") === "dark" ? ("light" as const) : ("dark" as const);
  const toggleScheme = useCallback(() => setColorScheme(other), [setColorScheme, other]);
  const label = other === "dark" ? t("Use the dark theme") : t("Use the light theme");
  return { other, label, toggleScheme };
}

export function ColorSchemeButton() {
  const { other, label, toggleScheme } = useOtherScheme();
  const Icon = other === "light" ? IconSun : IconMoon;
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" aria-label={label} onClick={toggleScheme}>
        <Icon size={17} stroke={1.7} />
      </ActionIcon>
    </Tooltip>
  );
}
