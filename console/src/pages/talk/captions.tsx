import { Badge, Group, Stack, Text } from "@mantine/core";
import { useEffect, useRef } from "react";
import { formatMilliseconds } from "../../components/format.ts";
import { t } from "../../i18n/translate.ts";
import type { Stages, TalkTurn } from "./conversation-log.ts";

/** What both said, as it is said. */
export function Captions({ turns }: { turns: readonly TalkTurn[] }) {
  const end = useRef<HTMLDivElement>(null);
  const last = turns.at(-1);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new words move the end
  useEffect(() => void end.current?.scrollIntoView({ block: "nearest" }), [turns.length, last?.text]);
  return (
    <Stack className="captions" gap="md" role="log" aria-label={t("Captions")} tabIndex={0}>
      {turns.map((turn) => (
        <Caption key={turn.id} turn={turn} />
      ))}
      <div ref={end} />
    </Stack>
  );
}

function Caption({ turn: { speaker, text, isComplete, isInterrupted, stages } }: { turn: TalkTurn }) {
  return (
    <div className="caption" data-speaker={speaker}>
      <Group gap="xs" mb={2}>
        <Text size="xs" fw={600} c="dimmed">
          {speaker === "user" ? t("You") : "Parlance"}
        </Text>
        {isInterrupted && (
          <Badge size="xs" variant="light" color="gray">
            {t("interrupted")}
          </Badge>
        )}
      </Group>
      <Text dir="auto" size="lg" lh={1.45} className="wrap-anywhere">
        {text === "" && !isComplete ? "…" : text}
      </Text>
      <StageTimes stages={stages} />
    </div>
  );
}

function StageTimes({ stages: { hearMs, thinkMs, speakMs } }: { stages: Stages }) {
  if (speakMs === undefined) return null;
  const stages = [
    ["hear", hearMs ?? 0, "var(--chart-4)"],
    ["think", thinkMs ?? 0, "var(--chart-3)"],
    ["speak", speakMs, "var(--chart-2)"],
  ] as const;
  const total = stages.reduce((sum, [, milliseconds]) => sum + milliseconds, 0);
  const texts = [
    t("hear {{time}}", { time: formatMilliseconds(hearMs ?? 0) }),
    t("think {{time}}", { time: formatMilliseconds(thinkMs ?? 0) }),
    t("speak {{time}}", { time: formatMilliseconds(speakMs) }),
    t("first sound after {{time}}", { time: formatMilliseconds(total) }),
  ];
  return (
    <Group gap="sm" mt={6} data-testid="stages">
      <div className="stages" aria-hidden="true">
        {stages.map(([name, milliseconds, color]) => (
          <div key={name} style={{ flexGrow: milliseconds, background: color }} />
        ))}
      </div>
      <Text size="xs" c="dimmed" className="tabular">
        {texts.join(" · ")}
      </Text>
    </Group>
  );
}
