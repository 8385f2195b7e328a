import { Card, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

/** A card with a heading and what it is for. */
export function SectionCard({ title, about, children }: { title: string; about: ReactNode; children: ReactNode }) {
  return (
    <Card>
      <Title order={2} mb={4}>
        {title}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {about}
      </Text>
      {children}
    </Card>
  );
}
