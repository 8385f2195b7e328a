import "./studio.css";
import { Button, Card, FileButton, Group, Select, Stack, Switch, Text, Title } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { ModelEntry } from "../../api/models.ts";
import { AsCode } from "../../components/as-code.tsx";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { formatBytes, formatLanguage } from "../../components/format.ts";
import { useAddressState } from "../../components/use-address-state.ts";
import { useFileDrop } from "../../components/use-file-drop.ts";
import { WithModels } from "../../components/with-models.tsx";
import { t } from "../../i18n/translate.ts";
import { IconMicrophone, IconPlayerStop, IconUpload, IconX } from "../../icons.tsx";
import { AddSpeakers } from "./add-speakers.tsx";
import { studioStore, useStudio } from "./studio-store.ts";
import { TranscriptView } from "./transcript-view.tsx";
import { transcriptionSamples } from "./transcription-samples.ts";
import { useRecorder } from "./use-recorder.ts";
import { useStoredStudio } from "./use-stored-studio.ts";

export function TranscriptionPage() {
  return (
    <WithModels
      title={t("Transcription")}
      description={t("Turn a recording into text with speakers. Click a word to play it.")}
      task="transcription"
      icon={<IconMicrophone />}
    >
      {(models) => <TranscriptionStudio models={models} />}
    </WithModels>
  );
}

const ACCEPTED = "audio/*,video/mp4,video/webm,.mkv,.flac,.opus,.ogg,.m4a";

function TranscriptionStudio({ models }: { models: ModelEntry[] }) {
  const studio = useStudio();
  useStoredStudio();
  const [{ model: id }, setAddress] = useAddressState({ model: models[0]?.id ?? "" });
  const model = models.find((each) => each.id === id) ?? models[0];
  const [language, setLanguage] = useState<string | null>(null);
  const [wantsSpeakers, setWantsSpeakers] = useState(true);
  const recorder = useRecorder((recording) => studioStore.open(recording));
  const { recording, state } = studio;
  const { speakers, word_times: wordTimes } = model?.metadata.capabilities ?? {};
  const languages = model?.metadata.languages ?? [];
  const hasSpeakers = wantsSpeakers && speakers !== false;
  const start = () =>
    studioStore.transcribe({
      model: id,
      language: language !== null && languages.includes(language) ? language : "",
      wantsSpeakers: hasSpeakers,
      wantsWords: wordTimes !== false,
    });
  return (
    <DropZone>
      <Stack>
        <Card>
          <Group align="flex-end" gap="sm">
            <Select
              label={t("Model")}
              data={models.map((each) => each.id)}
              allowDeselect={false}
              value={id}
              onChange={(next) => setAddress({ model: next ?? id })}
            />
            {languages.length > 1 && (
              <Select
                label={t("Language")}
                placeholder={t("Detected")}
                searchable
                clearable
                w={150}
                data={languages.map((code) => ({ value: code, label: formatLanguage(code) }))}
                value={language}
                onChange={setLanguage}
              />
            )}
            {speakers === false ? (
              <AddSpeakers model={id} />
            ) : (
              <Switch
                label={t("Speakers")}
                checked={hasSpeakers}
                onChange={(event) => setWantsSpeakers(event.currentTarget.checked)}
                mb={8}
              />
            )}
            <Group gap="xs" ml="auto">
              <AsCode
                samples={() =>
                  transcriptionSamples(id, recording?.name ?? "recording.mp3", hasSpeakers && speakers === true)
                }
              />
              {state === "running" ? (
                <Button variant="default" onClick={() => studioStore.cancel()}>
                  {t("Cancel")}
                </Button>
              ) : (
                <Button disabled={recording === null} onClick={() => void start()}>
                  {t("Transcribe")}
                </Button>
              )}
            </Group>
          </Group>
        </Card>
        <ErrorAlert error={studio.error ?? recorder.error} />
        {recording === null ? (
          <Card className="studio-empty">
            <EmptyWave />
            <Title order={2}>{t("Drop a recording here")}</Title>
            <Text c="dimmed" size="sm" maw={420}>
              {t(
                "Audio or video, from seconds to hours. Only the chosen model reads it; recording and transcript stay in this browser until you close them or sign out.",
              )}
            </Text>
            <Group justify="center" mt="sm">
              <FileButton accept={ACCEPTED} onChange={(file) => studioStore.open(file)}>
                {(button) => (
                  <Button {...button} leftSection={<IconUpload size={16} />}>
                    {t("Choose a file")}
                  </Button>
                )}
              </FileButton>
              <RecordButton recorder={recorder} />
            </Group>
          </Card>
        ) : (
          <>
            <Group gap="xs" className="studio-file">
              <Text size="sm" fw={600} className="wrap-anywhere">
                {recording.name}
              </Text>
              <Text size="sm" c="dimmed">
                {formatBytes(recording.size)}
              </Text>
              <Button
                size="compact-xs"
                variant="subtle"
                color="gray"
                leftSection={<IconX size={13} />}
                onClick={() => studioStore.open(null)}
              >
                {t("Close recording")}
              </Button>
              <RecordButton recorder={recorder} isSmall />
            </Group>
            <TranscriptView studio={studio} />
          </>
        )}
      </Stack>
    </DropZone>
  );
}

function RecordButton({ recorder, isSmall = false }: { recorder: ReturnType<typeof useRecorder>; isSmall?: boolean }) {
  const Icon = recorder.isRecording ? IconPlayerStop : IconMicrophone;
  return (
    <Button
      variant={isSmall ? "subtle" : "default"}
      size={isSmall ? "compact-xs" : "sm"}
      color={recorder.isRecording ? "red" : "gray"}
      leftSection={<Icon size={isSmall ? 13 : 16} />}
      onClick={recorder.toggle}
    >
      {recorder.isRecording ? t("Stop recording") : t("Record")}
    </Button>
  );
}

/** Opens a file that is dropped anywhere on the page. */
function DropZone({ children }: { children: ReactNode }) {
  const drop = useFileDrop(([dropped]) => studioStore.open(dropped ?? null));
  return <div {...drop}>{children}</div>;
}

const EMPTY_BARS = 56;

/** Bars in the colors of three speakers, as a transcript will show. */
function EmptyWave() {
  return (
    <div className="studio-empty-wave" aria-hidden="true">
      {Array.from({ length: EMPTY_BARS }, (_, bar) => {
        const level = Math.abs(Math.sin(bar * 1.7) * Math.cos(bar * 0.43)) * 0.9 + 0.1;
        // biome-ignore lint/suspicious/noArrayIndexKey: the bars never change
        return <span key={bar} data-voice={Math.floor(bar / 9) % 3} style={{ height: `${100 * level}%` }} />;
      })}
    </div>
  );
}
