import { Button, Card, Group, NumberInput, Select, Stack, Text, Textarea } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type ModelEntry, voicesQuery } from "../../api/models.ts";
import { send } from "../../api/request.ts";
import { AsCode } from "../../components/as-code.tsx";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { formatBytes, formatSeconds } from "../../components/format.ts";
import { ModelSelect } from "../../components/model-select.tsx";
import { useAbort } from "../../components/use-abort.ts";
import { useAddressState } from "../../components/use-address-state.ts";
import { WithModels } from "../../components/with-models.tsx";
import { t } from "../../i18n/translate.ts";
import { IconDownload, IconVolume } from "../../icons.tsx";
import { canStream, playStream } from "./play-stream.ts";
import { type SpeechSettings, speechSamples } from "./speech-code.ts";
import { VoiceList } from "./voice-list.tsx";

export function SpeechPage() {
  return (
    <WithModels
      title={t("Speech")}
      description={t("Turn text into speech. It plays while it is made.")}
      task="speech"
      icon={<IconVolume />}
    >
      {(models) => <SpeechForm models={models} />}
    </WithModels>
  );
}

const FORMATS = ["mp3", "opus", "aac", "flac", "wav"];

interface Recording {
  /** What the player plays, and maybe still receives. */
  url: string;
  format: string;
  firstByteSeconds: number;
}

interface CompleteRecording {
  /** What is downloaded. */
  url: string;
  bytes: number;
  seconds: number;
}

function SpeechForm({ models }: { models: ModelEntry[] }) {
  const [{ model: requested }, setAddress] = useAddressState({ model: models[0]?.id ?? "" });
  const [settings, setSettings] = useState<SpeechSettings>({
    model: requested,
    input: t("Hello! This is the same sentence in every voice. Which one do you like best?"),
    voice: "",
    format: "mp3",
    speed: 1,
  });
  const set = (part: Partial<SpeechSettings>) => setSettings((now) => ({ ...now, ...part }));
  const voices = useQuery(voicesQuery(settings.model));
  const names = [...new Set((voices.data?.voices ?? []).map(({ id }) => id))];
  const voice = names.includes(settings.voice) ? settings.voice : (names[0] ?? "");
  const chosen = { ...settings, voice };
  const [complete, setComplete] = useState<CompleteRecording>();
  const [failure, setFailure] = useState<Error | null>(null);
  const abort = useAbort();
  const speak = useMutation({
    mutationFn: () => record(chosen, abort.next(), setComplete, setFailure),
    onMutate: () => {
      setComplete(undefined);
      setFailure(null);
    },
  });
  useRevoked(speak.data?.url);
  useRevoked(complete?.url);
  return (
    <Card>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          speak.mutate();
        }}
      >
        <Stack>
          <Textarea
            label={t("Text")}
            autosize
            minRows={4}
            maxRows={14}
            value={settings.input}
            onChange={(event) => set({ input: event.currentTarget.value })}
          />
          <Group align="flex-end">
            <ModelSelect
              models={models}
              value={settings.model}
              onChange={(model) => {
                set({ model });
                setAddress({ model });
              }}
            />
            <Select
              label={t("Format")}
              w={110}
              data={FORMATS}
              allowDeselect={false}
              value={settings.format}
              onChange={(format) => set({ format: format ?? "mp3" })}
            />
            <NumberInput
              label={t("Speed")}
              w={100}
              min={0.25}
              max={4}
              step={0.25}
              value={settings.speed}
              onChange={(speed) => set({ speed: typeof speed === "number" ? speed : 1 })}
            />
          </Group>
          <VoiceList
            model={settings.model}
            voices={names}
            chosen={voice}
            isLoading={voices.isPending}
            text={settings.input}
            speed={settings.speed}
            onChoose={(next) => set({ voice: next })}
          />
          <Group>
            <Button
              type="submit"
              leftSection={<IconVolume size={16} />}
              loading={speak.isPending}
              disabled={settings.input.trim() === "" || voice === ""}
            >
              {t("Speak")}
            </Button>
            <AsCode samples={() => speechSamples(chosen)} />
          </Group>
          <ErrorAlert error={speak.error ?? failure ?? voices.error} />
          {speak.data !== undefined && (
            <Player recording={speak.data} complete={complete} isBroken={failure !== null} />
          )}
        </Stack>
      </form>
    </Card>
  );
}

/** Frees an object URL once another one takes its place. */
function useRevoked(url: string | undefined): void {
  useEffect(
    () => () => {
      if (url !== undefined) URL.revokeObjectURL(url);
    },
    [url],
  );
}

interface PlayerProps {
  recording: Recording;
  complete: CompleteRecording | undefined;
  /** True when the rest does not arrive. */
  isBroken: boolean;
}

function Player({ recording, complete, isBroken }: PlayerProps) {
  return (
    <Group>
      {/* biome-ignore lint/a11y/useMediaCaption: the text that is spoken stands above */}
      <audio controls autoPlay src={recording.url} aria-label={t("Recording")} />
      {complete !== undefined && (
        <Button
          component="a"
          variant="default"
          size="xs"
          href={complete.url}
          download={`speech.${recording.format}`}
          leftSection={<IconDownload size={15} />}
        >
          {t("Download")}
        </Button>
      )}
      <Text size="xs" c="dimmed" className="tabular" role="status">
        {[
          t("First sound after {{time}}", { time: formatSeconds(recording.firstByteSeconds) }),
          ...(complete === undefined && !isBroken ? [t("still speaking…")] : []),
          ...(complete === undefined
            ? []
            : [
                t("{{size}} in {{time}}", {
                  size: formatBytes(complete.bytes),
                  time: formatSeconds(complete.seconds),
                }),
              ]),
        ].join(" · ")}
      </Text>
    </Group>
  );
}

/** Resolves as soon as the recording can be played; calls `onComplete` at its end, or `onFailure` when it breaks off. */
async function record(
  { model, input, voice, format, speed }: SpeechSettings,
  signal: AbortSignal,
  onComplete: (recording: CompleteRecording) => void,
  onFailure: (failure: Error) => void,
): Promise<Recording> {
  const beganAt = performance.now();
  const seconds = () => (performance.now() - beganAt) / 1000;
  const body = { model, input, voice, response_format: format, speed };
  const response = await send("v1/audio/speech", { method: "POST", body, signal });
  const firstByteSeconds = seconds();
  const finish = (blob: Blob) => onComplete({ url: URL.createObjectURL(blob), bytes: blob.size, seconds: seconds() });
  if (response.body !== null && canStream(format)) {
    const { url, complete } = playStream(response.body, format);
    void complete.then(finish, (failure: unknown) => {
      if (!signal.aborted) onFailure(failure instanceof Error ? failure : new Error(String(failure)));
    });
    return { url, format, firstByteSeconds };
  }
  const blob = await response.blob();
  finish(blob);
  return { url: URL.createObjectURL(blob), format, firstByteSeconds };
}
