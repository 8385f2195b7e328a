import { ActionIcon, Group, Select, Text } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { type KeyboardEvent, type PointerEvent, useMemo } from "react";
import { Tooltip } from "../../components/tooltip.tsx";
import { t } from "../../i18n/translate.ts";
import { IconPlayerPause, IconPlayerPlay } from "../../icons.tsx";
import { indexAt, type Segment } from "./transcript.ts";
import type { Peaks } from "./use-peaks.ts";
import type { Player } from "./use-player.ts";

const BAR_PIXELS = 4;
const MIN_HEIGHT = 3;
/** Quieter parts are pauses, also within a segment. */
const PAUSE_LEVEL = 0.03;
const SEEK_SECONDS = 5;
const RATES = ["0.5", "0.75", "1", "1.25", "1.5", "2"];

interface WaveformPlayerProps {
  player: Player;
  peaks: Peaks | null | undefined;
  segments: readonly Segment[];
  /** Color of a speaker. */
  colorOf: (speaker: string | null) => string;
}

/** Waveform of the recording in the colors of its speakers; a click seeks. */
export function WaveformPlayer({ player, peaks, segments, colorOf }: WaveformPlayerProps) {
  const { ref, width } = useElementSize();
  const { seconds, duration, isPlaying } = player;
  const length = peaks?.seconds ?? duration;
  const bars = Math.max(40, Math.floor(width / BAR_PIXELS));
  const paths = useMemo(() => drawBars(peaks, bars, segments, colorOf), [peaks, bars, segments, colorOf]);
  const share = length === 0 ? 0 : Math.min(1, seconds / length);
  const seekTo = (event: PointerEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    player.seek((length * (event.clientX - box.left)) / Math.max(1, box.width));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -SEEK_SECONDS, ArrowRight: SEEK_SECONDS }[event.key];
    if (step !== undefined) player.seek(Math.min(length, Math.max(0, seconds + step)));
    else if (event.key === "Home") player.seek(0);
    else if (event.key === "End") player.seek(length);
    else if (event.key === " " || event.key === "Enter") player.toggle();
    else return;
    event.preventDefault();
  };
  return (
    <div className="studio-player">
      <div
        ref={ref}
        className="studio-wave"
        role="slider"
        tabIndex={0}
        aria-label={t("Position in the recording")}
        aria-valuemin={0}
        aria-valuemax={Math.round(length)}
        aria-valuenow={Math.round(seconds)}
        aria-valuetext={t("{{time}} of {{length}}", { time: toClock(seconds), length: toClock(length) })}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          seekTo(event);
        }}
        onPointerMove={(event) => event.buttons > 0 && seekTo(event)}
      >
        <Bars bars={bars} paths={paths} />
        <Bars bars={bars} paths={paths} playedShare={share} />
        <div className="studio-playhead" style={{ left: `${100 * share}%` }} />
      </div>
      <Group gap="sm" wrap="nowrap" mt={10}>
        <Tooltip label={isPlaying ? t("Pause") : t("Play")}>
          <ActionIcon
            size={38}
            radius="xl"
            variant="filled"
            aria-label={isPlaying ? t("Pause") : t("Play")}
            onClick={player.toggle}
          >
            {isPlaying ? <IconPlayerPause size={19} /> : <IconPlayerPlay size={19} />}
          </ActionIcon>
        </Tooltip>
        <Text size="sm" className="tabular">
          {toClock(seconds)}
          <Text span c="dimmed">
            {" "}
            / {toClock(length)}
          </Text>
        </Text>
        <Select
          ml="auto"
          size="xs"
          w={84}
          aria-label={t("Playback speed")}
          allowDeselect={false}
          data={RATES.map((rate) => ({ value: rate, label: `${rate}×` }))}
          value={String(player.rate)}
          onChange={(rate) => player.setRate(Number(rate))}
        />
      </Group>
    </div>
  );
}

interface BarsProps {
  bars: number;
  paths: readonly { color: string; path: string }[];
  /** Only what has played, in full color. */
  playedShare?: number;
}

function Bars({ bars, paths, playedShare }: BarsProps) {
  const style =
    playedShare === undefined ? { opacity: 0.45 } : { clipPath: `inset(0 ${100 * (1 - playedShare)}% 0 0)` };
  return (
    <svg viewBox={`0 0 ${bars} 100`} preserveAspectRatio="none" aria-hidden="true" style={style}>
      {paths.map(({ color, path }) => (
        <path key={color} d={path} style={{ stroke: color }} />
      ))}
    </svg>
  );
}

/** One path for each color: thousands of elements would be slow. */
function drawBars(
  peaks: Peaks | null | undefined,
  bars: number,
  segments: readonly Segment[],
  colorOf: WaveformPlayerProps["colorOf"],
): { color: string; path: string }[] {
  const paths = new Map<string, string>();
  for (let bar = 0; bar < bars; bar += 1) {
    const level = levelAt(peaks, bar / bars, (bar + 1) / bars);
    const height = Math.max(MIN_HEIGHT, 94 * level ** 0.7);
    const seconds = ((bar + 0.5) / bars) * (peaks?.seconds ?? 0);
    const segment = segments[indexAt(segments, seconds)];
    const isSpoken = segment !== undefined && seconds <= segment.end && (!peaks || level > PAUSE_LEVEL);
    const color = isSpoken ? colorOf(segment.speaker) : "var(--chart-muted)";
    paths.set(color, `${paths.get(color) ?? ""}M${bar + 0.5} ${50 - height / 2}v${height}`);
  }
  return [...paths].map(([color, path]) => ({ color, path }));
}

function levelAt(peaks: Peaks | null | undefined, from: number, until: number): number {
  if (!peaks) return 0;
  const { levels } = peaks;
  let level = 0;
  const end = Math.max(Math.floor(from * levels.length) + 1, Math.floor(until * levels.length));
  for (let at = Math.floor(from * levels.length); at < end; at += 1) level = Math.max(level, levels[at] ?? 0);
  return level;
}

/** `1:02:03` or `2:03` */
export function toClock(seconds: number): string {
  const whole = Math.floor(seconds);
  const minutes = Math.floor(whole / 60);
  const rest = String(whole % 60).padStart(2, "0");
  if (minutes < 60) return `${minutes}:${rest}`;
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${rest}`;
}
