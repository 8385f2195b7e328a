import { Card, Group, Text, Title } from "@mantine/core";
import { formatBytes } from "../../components/format.ts";
import { t } from "../../i18n/translate.ts";
import type { Deployment } from "./overview-query.ts";

const MAX_SHOWN = 6;

/** Memory of the loaded models, the largest first. Nothing while no local model is loaded. */
export function MemoryBars({ deployments }: { deployments: readonly Deployment[] }) {
  const loaded = deployments
    .flatMap(({ deployment, memory_bytes, vram_bytes }) => {
      const total = (memory_bytes ?? 0) + (vram_bytes ?? 0);
      return total === 0 ? [] : [{ deployment, memory: memory_bytes ?? 0, vram: vram_bytes ?? 0, total }];
    })
    .sort((a, b) => b.total - a.total);
  const [largest] = loaded;
  if (largest === undefined) return null;
  const sum = loaded.reduce((bytes, { total }) => bytes + total, 0);
  return (
    <Card>
      <Group justify="space-between" mb="sm">
        <Title order={2}>{t("Memory per model")}</Title>
        <Text size="sm" c="dimmed" className="tabular">
          {formatBytes(sum)}
        </Text>
      </Group>
      <ul className="memory-bars">
        {loaded.slice(0, MAX_SHOWN).map(({ deployment, memory, vram, total }) => (
          <li key={deployment}>
            <span className="memory-name" title={deployment}>
              {deployment}
            </span>
            <span className="memory-track" aria-hidden="true">
              <span style={{ width: `${(100 * memory) / largest.total}%`, background: "var(--chart-1)" }} />
              <span style={{ width: `${(100 * vram) / largest.total}%`, background: "var(--chart-2)" }} />
            </span>
            <span className="tabular nowrap">
              {formatBytes(total)}
              {vram > 0 && <span className="cell-detail"> · {t("{{size}} VRAM", { size: formatBytes(vram) })}</span>}
            </span>
          </li>
        ))}
      </ul>
      {loaded.length > MAX_SHOWN && (
        <Text size="xs" c="dimmed" mt="xs">
          {t("and {{number}} more", { number: loaded.length - MAX_SHOWN })}
        </Text>
      )}
    </Card>
  );
}
