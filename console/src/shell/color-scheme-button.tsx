import { ActionIcon, Tooltip, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { useCallback } from "react";
import { IconMoon, IconSun } from "../icons.tsx";

/** The theme that is not in use, and a function that changes to it. */
export function useOtherScheme() {
  const { setColorScheme } = useMantineColorScheme();
  const other = useComputedColorScheme("light") === "dark" ? ("light" as const) : ("dark" as const);
  const toggleScheme = useCallback(() => setColorScheme(other), [setColorScheme, other]);
  return { other, toggleScheme };
}

export function ColorSchemeButton() {
  const { other, toggleScheme } = useOtherScheme();
  const Icon = other === "light" ? IconSun : IconMoon;
  return (
    <Tooltip label={`Use the ${other} theme`}>
      <ActionIcon variant="subtle" color="gray" aria-label={`Use the ${other} theme`} onClick={toggleScheme}>
        <Icon size={17} stroke={1.7} />
      </ActionIcon>
    </Tooltip>
  );
}
