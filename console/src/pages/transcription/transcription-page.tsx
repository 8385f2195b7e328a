import { Button, Card, FileInput, Group, Loader, Select, Stack, Text, UnstyledButton } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type DragEvent, Fragment, useEffect, useRef, useState } from "react";
import type { ModelEntry } from "../../api/models.ts";
import { AsCode } from "../../components/as-code.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { formatSeconds } from "../../components/format.ts";
import { saveFile } from "../../components/save-file.ts";
import { WithModels } from "../../components/with-models.tsx";
import { IconDownload, IconMicrophone, IconPlayerStop, IconUpload } from "../../icons.tsx";
import { readTranscript } from "./read-transcript.ts";
import { type Segment, type Transcript, toSrt, toVtt, transcriptionSamples } from "./transcript.ts";
import { useRecorder } from "./use-recorder.ts";

export function TranscriptionPage() {
  return (
    <WithModels
      title="Transcription"
      description="Turn a recording into text. Click a sentence to play it."
      task="transcription"
      icon={<IconMicrophone />}
    >
      {(models) => <TranscriptionForm models={models} />}
    </WithModels>
  );
}

const ACCEPTED = "audio/*,video/mp4,video/webm,.mkv,.flac,.opus,.ogg,.m4a";

function TranscriptionForm({ models }: { models: ModelEntry[] }) {
  const [model, setModel] = useState(models[0]?.id ?? "");
  const [file, setFile] = useState<File | null>(null);
  const recorder = useRecorder(setFile);
  const url = useObjectUrl(file);
  const [transcript, setTranscript] = useState<Transcript>();
  const [isOver, setIsOver] = useState(false);
  const transcribe = useMutation({
    mutationFn: (recording: File) => readTranscript(model, recording, setTranscript),
    onMutate: () => setTranscript(undefined),
  });
  return (
    <Card
      className="drop-zone"
      mod={{ over: isOver }}
      onDragOver={(event: DragEvent) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event: DragEvent) => {
        event.preventDefault();
        setIsOver(false);
        const [dropped] = event.dataTransfer.files;
        if (dropped !== undefined) setFile(dropped);
      }}
    >
      <Stack>
        <Group align="flex-end">
          <Select
            label="Model"
            data={models.map(({ id }) => id)}
            allowDeselect={false}
            value={model}
            onChange={(next) => setModel(next ?? model)}
          />
          <FileInput
            label="Recording"
            placeholder="Choose or drop a file"
            leftSection={<IconUpload size={16} />}
            accept={ACCEPTED}
            clearable
            miw={220}
            value={file}
            onChange={setFile}
          />
          <Button
            variant="default"
            leftSection={recorder.isRecording ? <IconPlayerStop size={16} /> : <IconMicrophone size={16} />}
            onClick={recorder.toggle}
          >
            {recorder.isRecording ? "Stop recording" : "Record"}
          </Button>
        </Group>
        <Group>
          <Button
            disabled={file === null}
            loading={transcribe.isPending}
            onClick={() => file !== null && transcribe.mutate(file)}
          >
            Transcribe
          </Button>
          <AsCode samples={() => transcriptionSamples(model, file?.name ?? "recording.mp3")} />
        </Group>
        <ErrorAlert error={transcribe.error ?? recorder.error} />
        {transcript !== undefined && (
          <TranscriptView transcript={transcript} url={url} isComplete={transcribe.isSuccess} />
        )}
      </Stack>
    </Card>
  );
}

interface TranscriptViewProps {
  transcript: Transcript;
  /** The recording. */
  url: string | undefined;
  isComplete: boolean;
}

function TranscriptView({ transcript, url, isComplete }: TranscriptViewProps) {
  const audio = useRef<HTMLAudioElement>(null);
  const { segments, text } = transcript;
  // What was heard since the last complete segment.
  const caption = segments.map((segment) => segment.text.trim()).join(" ");
  const rest = text.length > caption.length ? text.slice(caption.length) : "";
  const play = ({ start }: Segment) => {
    if (audio.current === null) return;
    audio.current.currentTime = start;
    void audio.current.play();
  };
  const downloads = [
    ["srt", toSrt(segments)],
    ["vtt", toVtt(segments)],
    ["json", JSON.stringify(transcript, undefined, 2)],
  ] as const;
  return (
    <Stack gap="sm">
      {url !== undefined && (
        // biome-ignore lint/a11y/useMediaCaption: the transcript stands below
        <audio ref={audio} controls src={url} aria-label="Recording" />
      )}
      <div data-testid="transcript" aria-live="polite">
        {segments.length === 0 && isComplete && text === "" && <Text>No speech was found.</Text>}
        {segments.map((segment) => (
          // The space stands between the buttons: an inline block drops one at its end.
          <Fragment key={segment.id}>
            <UnstyledButton
              className="segment"
              onClick={() => play(segment)}
              title={`Play from ${formatSeconds(segment.start)}`}
            >
              {segment.text.trim()}
            </UnstyledButton>{" "}
          </Fragment>
        ))}
        {rest !== "" && <Text span>{rest}</Text>}
        {!isComplete && <Loader size="xs" type="dots" display="inline-block" />}
      </div>
      {isComplete && (
        <Group gap="xs">
          <CopyButton text={text} label="Copy text" />
          {downloads.map(([format, text]) => (
            <Button
              key={format}
              size="compact-xs"
              variant="default"
              leftSection={<IconDownload size={13} />}
              onClick={() => saveFile(`transcript.${format}`, text)}
            >
              {format}
            </Button>
          ))}
        </Group>
      )}
    </Stack>
  );
}

function useObjectUrl(file: File | null): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (file === null) return setUrl(undefined);
    const next = URL.createObjectURL(file);
    setUrl(next);
    return () => URL.revokeObjectURL(next);
  }, [file]);
  return url;
}
