import { Group, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, type Ref, useEffect } from "react";

interface PageProps {
  title: string;
  description?: ReactNode;
  actions?: ReactNode;
  className?: string;
  ref?: Ref<HTMLDivElement>;
  children: ReactNode;
}

export function Page({ title, description, actions, className, ref, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Parlance`;
  }, [title]);
  return (
    <Stack ref={ref} gap="lg" maw={1280} mx="auto" className={className}>
      <Group justify="space-between" align="flex-end" gap="sm">
        <div>
          <Title order={1}>{title}</Title>
          {description !== undefined && (
            <Text c="dimmed" size="sm" mt={2}>
              {description}
            </Text>
          )}
        </div>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}
