import { Button, Card, Group, Loader, Text } from "@mantine/core";
import { useCallback, useMemo } from "react";
import { CopyButton } from "../../components/copy-button.tsx";
import { saveFile } from "../../components/save-file.ts";
import { t } from "../../i18n/translate.ts";
import { IconDownload } from "../../icons.tsx";
import { toDocx, toJson, toSrt, toText, toVtt } from "./export-transcript.ts";
import { SegmentRow } from "./segment-row.tsx";
import { colorAmong, SpeakerButton } from "./speaker-button.tsx";
import { type Studio, studioStore } from "./studio-store.ts";
import { indexAt, type Segment, speakersOf, type Transcript, talkShares } from "./transcript.ts";
import { usePeaks } from "./use-peaks.ts";
import { usePlayer } from "./use-player.ts";
import { WaveformPlayer } from "./waveform-player.tsx";

const NOTHING: readonly Segment[] = [];
const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

/** The recording with its transcript: what plays is lit, and what is clicked plays. */
export function TranscriptView({ studio }: { studio: Studio }) {
  const { recording, url, transcript, names, state } = studio;
  const player = usePlayer(url);
  const peaks = usePeaks(recording);
  const segments = transcript?.segments ?? NOTHING;
  const speakers = useMemo(() => speakersOf(segments), [segments]);
  const shares = useMemo(() => talkShares(segments), [segments]);
  const colorOf = useCallback((speaker: string | null) => colorAmong(speakers, speaker), [speakers]);
  const { seconds, isPlaying, seek } = player;
  // Nothing is lit before the recording has played.
  const at = isPlaying || seconds > 0 ? indexAt(segments, seconds) : -1;
  const word = at < 0 ? -1 : indexAt(segments[at]?.words ?? [], seconds);
  return (
    <>
      <Card>
        {/* biome-ignore lint/a11y/useMediaCaption: the transcript stands below */}
        <audio ref={player.audio} src={url} preload="metadata" aria-label={t("Recording")} />
        <WaveformPlayer player={player} peaks={peaks} segments={segments} colorOf={colorOf} />
        {speakers.length > 0 && (
          <Group gap={6} mt="sm">
            {speakers.map((speaker) => (
              <SpeakerButton
                key={speaker}
                speaker={speaker}
                speakers={speakers}
                names={names}
                detail={`${Math.round(100 * (shares.get(speaker) ?? 0))} %`}
                onRename={(name) => studioStore.rename(speaker, name)}
              />
            ))}
          </Group>
        )}
      </Card>
      {transcript !== undefined && (
        <Card>
          {state === "done" && <Exports transcript={transcript} studio={studio} />}
          <div data-testid="transcript" aria-live="polite" aria-busy={state === "running"}>
            {state === "done" && segments.length === 0 && (
              <Text>{transcript.text.trim() === "" ? t("No speech was found.") : transcript.text}</Text>
            )}
            <ol className="segments">
              {segments.map((segment, index) => (
                <SegmentRow
                  key={segment.id}
                  segment={segment}
                  speakers={speakers}
                  names={names}
                  beginsTurn={segment.speaker === null || segments[index - 1]?.speaker !== segment.speaker}
                  activeWord={index === at ? word : undefined}
                  isEditable={state !== "running"}
                  onSeek={seek}
                />
              ))}
            </ol>
            {state === "running" && (
              <Text c="dimmed" size="sm" component="div">
                {captionAfter(transcript)} <Loader size="xs" type="dots" display="inline-block" />
              </Text>
            )}
          </div>
        </Card>
      )}
    </>
  );
}

/** What was heard since the last complete segment. */
function captionAfter({ text, segments }: Transcript): string {
  const complete = segments.map((segment) => segment.text.trim()).join(" ");
  return text.length > complete.length ? text.slice(complete.length) : "";
}

function Exports({ transcript, studio: { names, recording } }: { transcript: Transcript; studio: Studio }) {
  const title = recording?.name.replace(/\.\w+$/, "") || "transcript";
  const files: [string, () => string | Uint8Array<ArrayBuffer>, string?][] = [
    ["txt", () => toText(transcript, names)],
    ["srt", () => toSrt(transcript, names)],
    ["vtt", () => toVtt(transcript, names), "text/vtt"],
    ["json", () => toJson(transcript, names), "application/json"],
    ["docx", () => toDocx(transcript, names, title), DOCX],
  ];
  return (
    <Group gap={6} mb="md" justify="space-between">
      <Text size="xs" c="dimmed">
        {transcript.hasWordTimes
          ? t("Click a word to play it.")
          : t("Click a word to play it. The times of words are estimated.")}
      </Text>
      <Group gap={6}>
        <CopyButton text={toText(transcript, names).trimEnd()} label={t("Copy text")} />
        {files.map(([format, content, type]) => (
          <Button
            key={format}
            size="compact-xs"
            variant="default"
            leftSection={<IconDownload size={13} />}
            onClick={() => saveFile(`${title}.${format}`, content(), type)}
          >
            {format}
          </Button>
        ))}
      </Group>
    </Group>
  );
}
