import { Card, Text } from "@mantine/core";
import type { ReactNode } from "react";

interface StatProps {
  label: string;
  value: ReactNode;
  detail?: ReactNode;
}

export function Stat({ label, value, detail }: StatProps) {
  return (
    <Card padding="sm">
      <Text size="xs" c="dimmed" fw={500}>
        {label}
      </Text>
      <Text fz={22} fw={600} className="tabular" lh={1.3}>
        {value}
      </Text>
      <Text size="xs" c="dimmed" className="tabular" mih={18}>
        {detail}
      </Text>
    </Card>
  );
}
