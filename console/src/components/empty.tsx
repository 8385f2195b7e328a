import { Stack, Text, ThemeIcon } from "@mantine/core";
import type { ReactNode } from "react";

interface EmptyProps {
  icon: ReactNode;
  title: string;
  children?: ReactNode;
}

export function Empty({ icon, title, children }: EmptyProps) {
  return (
    <Stack align="center" gap="xs" py={48} px="md" ta="center">
      <ThemeIcon variant="light" size={48} radius="xl">
        {icon}
      </ThemeIcon>
      <Text fw={600}>{title}</Text>
      {children !== undefined && (
        <Text c="dimmed" size="sm" maw={440} component="div">
          {children}
        </Text>
      )}
    </Stack>
  );
}
