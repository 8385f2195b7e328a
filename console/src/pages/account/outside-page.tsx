import { Card, Center, Group, Stack, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";
import { Logo } from "../../shell/logo.tsx";

/** A page for somebody who is not signed in yet. */
export function OutsidePage({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Parlance`;
  }, [title]);
  return (
    <Center mih="100dvh" p="md" component="main">
      <Stack w="100%" maw={440} gap="lg">
        <Group justify="center" gap="sm">
          <Logo size={36} />
          <Title order={1}>{title}</Title>
        </Group>
        <Card padding="xl" shadow="sm">
          {children}
        </Card>
      </Stack>
    </Center>
  );
}
