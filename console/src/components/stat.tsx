import { Card, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { t } from "../i18n/translate.ts";
import { Sparkline } from "./charts/sparkline.tsx";

interface StatProps {
  label: string;
  value: ReactNode;
  detail?: ReactNode;
  /** Its course, drawn below in this CSS color. */
  course?: { values: readonly number[]; color: string };
}

export function Stat({ label, value, detail, course }: StatProps) {
  return (
    <Card padding="sm" className="stat">
      <Text size="xs" c="dimmed" fw={500}>
        {label}
      </Text>
      <Text fz={24} fw={600} className="tabular" lh={1.3}>
        {value}
      </Text>
      <Text size="xs" c="dimmed" className="tabular" mih={18}>
        {detail}
      </Text>
      {course !== undefined && (
        <div className="stat-course" style={{ color: course.color }}>
          <Sparkline
            values={course.values}
            label={t("{{label}}: course", { label })}
            width={240}
            height={34}
            isStretched
          />
        </div>
      )}
    </Card>
  );
}
