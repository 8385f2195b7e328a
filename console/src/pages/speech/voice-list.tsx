import "./voices.css";
import { ActionIcon, Button, Group, Text, UnstyledButton } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { send } from "../../api/request.ts";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { formatSeconds } from "../../components/format.ts";
import { Tooltip } from "../../components/tooltip.tsx";
import { useAbort } from "../../components/use-abort.ts";
import { t } from "../../i18n/translate.ts";
import { IconDownload, IconPlayerPlay, IconPlayerStop } from "../../icons.tsx";
import { decodePeaks, type Peaks } from "../transcription/use-peaks.ts";
import { firstSentences } from "./first-sentences.ts";

interface VoiceListProps {
  model: string;
  voices: readonly string[];
  chosen: string;
  isLoading: boolean;
  /** What every voice says. */
  text: string;
  speed: number;
  onChoose: (voice: string) => void;
}

interface Sample {
  url: string;
  peaks: Peaks;
  /** Seconds until the recording was complete. */
  madeIn: number;
}

const BARS = 44;

/** Voices of a model side by side: each says the beginning of the same text. */
export function VoiceList({ model, voices, chosen, isLoading, text, speed, onChoose }: VoiceListProps) {
  const audio = useRef<HTMLAudioElement>(null);
  const [samples, setSamples] = useState<ReadonlyMap<string, Sample>>(new Map());
  const [playing, setPlaying] = useState<string>();
  const [making, setMaking] = useState<string>();
  const [error, setError] = useState<Error | null>(null);
  const abort = useAbort();
  const input = firstSentences(text);
  const keyOf = (voice: string) => JSON.stringify([model, voice, speed, input]);
  const made = useRef(samples);
  made.current = samples;
  useEffect(
    () => () => {
      for (const { url } of made.current.values()) URL.revokeObjectURL(url);
    },
    [],
  );
  const stop = () => {
    abort.abort();
    audio.current?.pause();
    setPlaying(undefined);
    setMaking(undefined);
  };
  const playOne = async (voice: string, signal: AbortSignal) => {
    const key = keyOf(voice);
    let sample = made.current.get(key);
    if (sample === undefined) {
      setMaking(voice);
      sample = await makeSample({ model, voice, input, speed }, signal);
      if (signal.aborted) {
        URL.revokeObjectURL(sample.url);
        return;
      }
      const ready = sample;
      setSamples((now) => new Map([...now, [key, ready]]));
      setMaking(undefined);
    }
    const element = audio.current;
    if (element === null) return;
    element.src = sample.url;
    setPlaying(voice);
    const ended = new Promise((resolve) => {
      element.addEventListener("ended", resolve, { once: true });
      element.addEventListener("pause", resolve, { once: true });
    });
    await element.play();
    await ended;
    if (!signal.aborted) setPlaying(undefined);
  };
  const play = async (list: readonly string[]) => {
    stop();
    const signal = abort.next();
    setError(null);
    try {
      for (const voice of list) if (!signal.aborted) await playOne(voice, signal);
    } catch (failure) {
      if (signal.aborted) return;
      stop();
      setError(failure instanceof Error ? failure : new Error(String(failure)));
    }
  };
  const isBusy = playing !== undefined || making !== undefined;
  return (
    <div>
      <Group justify="space-between" mb={6}>
        <Text size="sm" fw={600}>
          {t("Voice")}
        </Text>
        {voices.length > 1 && (
          <Button
            size="compact-xs"
            variant="subtle"
            leftSection={isBusy ? <IconPlayerStop size={13} /> : <IconPlayerPlay size={13} />}
            disabled={input === ""}
            onClick={() => (isBusy ? stop() : void play(voices))}
          >
            {isBusy ? t("Stop") : t("Hear all in turn")}
          </Button>
        )}
      </Group>
      {isLoading && (
        <Text size="sm" c="dimmed" role="status">
          {t("Loading the model and its voices…")}
        </Text>
      )}
      {/* biome-ignore lint/a11y/useMediaCaption: each voice says the text above */}
      <audio ref={audio} hidden />
      <div className="voices" role="radiogroup" aria-label={t("Voice")}>
        {voices.map((voice) => {
          const sample = samples.get(keyOf(voice));
          const isPlaying = playing === voice;
          return (
            <div key={voice} className="voice-card" data-chosen={voice === chosen || undefined}>
              <Group gap={4} wrap="nowrap" justify="space-between">
                <UnstyledButton
                  role="radio"
                  aria-checked={voice === chosen}
                  className="voice-name"
                  onClick={() => onChoose(voice)}
                >
                  {voice}
                </UnstyledButton>
                <Tooltip label={isPlaying ? t("Stop") : t("Listen")}>
                  <ActionIcon
                    variant="light"
                    radius="xl"
                    size="md"
                    loading={making === voice}
                    disabled={input === ""}
                    aria-label={
                      isPlaying ? t("Stop the sample of {{voice}}", { voice }) : t("Listen to {{voice}}", { voice })
                    }
                    onClick={() => (isPlaying ? stop() : void play([voice]))}
                  >
                    {isPlaying ? <IconPlayerStop size={14} /> : <IconPlayerPlay size={14} />}
                  </ActionIcon>
                </Tooltip>
              </Group>
              <VoiceWave peaks={sample?.peaks} isPlaying={isPlaying} />
              <Group gap={6} justify="space-between" mih={22}>
                <Text size="xs" c="dimmed" className="tabular">
                  {sample === undefined
                    ? t("Not heard yet")
                    : t("{{length}} in {{time}}", {
                        length: formatSeconds(sample.peaks.seconds),
                        time: formatSeconds(sample.madeIn),
                      })}
                </Text>
                {sample !== undefined && (
                  <ActionIcon
                    component="a"
                    href={sample.url}
                    download={`${voice}.mp3`}
                    variant="subtle"
                    color="gray"
                    size="sm"
                    aria-label={t("Download {{name}}", { name: voice })}
                  >
                    <IconDownload size={14} />
                  </ActionIcon>
                )}
              </Group>
            </div>
          );
        })}
      </div>
      <ErrorAlert error={error} />
    </div>
  );
}

function VoiceWave({ peaks, isPlaying }: { peaks: Peaks | undefined; isPlaying: boolean }) {
  const levels = peaks?.levels;
  const path = Array.from({ length: BARS }, (_, bar) => {
    const level = levels === undefined ? 0 : (levels[Math.floor(((bar + 0.5) / BARS) * levels.length)] ?? 0);
    const height = Math.max(4, 92 * level ** 0.7);
    return `M${bar + 0.5} ${50 - height / 2}v${height}`;
  }).join("");
  return (
    <svg
      className="voice-wave"
      data-playing={isPlaying || undefined}
      data-heard={levels !== undefined || undefined}
      viewBox={`0 0 ${BARS} 100`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={path} />
    </svg>
  );
}

interface SampleRequest {
  model: string;
  voice: string;
  input: string;
  speed: number;
}

async function makeSample(request: SampleRequest, signal: AbortSignal): Promise<Sample> {
  const beganAt = performance.now();
  const body = { ...request, response_format: "mp3" };
  const blob = await (await send("v1/audio/speech", { method: "POST", body, signal })).blob();
  const madeIn = (performance.now() - beganAt) / 1000;
  const peaks = await decodePeaks(await blob.arrayBuffer());
  return { url: URL.createObjectURL(blob), peaks, madeIn };
}
