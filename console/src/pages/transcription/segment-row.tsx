import { ActionIcon, Button, Group, Textarea, UnstyledButton } from "@mantine/core";
import { type FormEvent, Fragment, type MouseEvent, useEffect, useRef, useState } from "react";
import { Tooltip } from "../../components/tooltip.tsx";
import { memo } from "../../i18n/memo.ts";
import { t } from "../../i18n/translate.ts";
import { IconPencil } from "../../icons.tsx";
import { colorAmong, SpeakerButton } from "./speaker-button.tsx";
import { studioStore } from "./studio-store.ts";
import type { Segment, SpeakerNames } from "./transcript.ts";
import { toClock } from "./waveform-player.tsx";

interface SegmentRowProps {
  segment: Segment;
  speakers: readonly string[];
  names: SpeakerNames;
  /** True for the first of several segments of a speaker. */
  beginsTurn: boolean;
  /** Index of the word that plays; undefined: the segment does not play. */
  activeWord: number | undefined;
  isEditable: boolean;
  onSeek: (seconds: number, plays: boolean) => void;
}

/** A segment of the transcript: a click on a word plays from it. */
export const SegmentRow = memo(function SegmentRow(props: SegmentRowProps) {
  const { segment, speakers, names, beginsTurn, activeWord, isEditable, onSeek } = props;
  const [isEditing, setIsEditing] = useState(false);
  const row = useRef<HTMLLIElement>(null);
  const isActive = activeWord !== undefined;
  useEffect(() => {
    if (isActive) row.current?.scrollIntoView({ block: "nearest" });
  }, [isActive]);
  const onWord = (event: MouseEvent<HTMLElement>) => {
    const index = (event.target as HTMLElement).dataset.word;
    const word = segment.words[Number(index)];
    if (index !== undefined && word !== undefined) onSeek(word.start, true);
  };
  return (
    <li
      ref={row}
      className="segment-row"
      data-active={isActive || undefined}
      data-begins={beginsTurn || undefined}
      style={{ "--speaker": colorAmong(speakers, segment.speaker) } as never}
    >
      <div className="segment-head">
        {beginsTurn && segment.speaker !== null && (
          <SpeakerButton
            speaker={segment.speaker}
            speakers={speakers}
            names={names}
            onRename={(name) => studioStore.rename(segment.speaker ?? "", name)}
            {...(isEditable && { onAssign: (speaker: string) => studioStore.assign(segment.id, speaker) })}
          />
        )}
        <UnstyledButton
          className="segment-time tabular"
          aria-label={t("Play from {{time}}", { time: toClock(segment.start) })}
          onClick={() => onSeek(segment.start, true)}
        >
          {toClock(segment.start)}
        </UnstyledButton>
      </div>
      {isEditing ? (
        <SegmentForm segment={segment} onClose={() => setIsEditing(false)} />
      ) : (
        <>
          {/* biome-ignore lint/a11y/useKeyWithClickEvents: the time beside it does the same as a button */}
          <p className="segment-text" onClick={onWord}>
            {segment.words.map((word, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: words repeat, and an edit replaces all of them
              <Fragment key={index}>
                <span data-word={index} data-lit={index === activeWord || undefined}>
                  {word.text}
                </span>{" "}
              </Fragment>
            ))}
          </p>
          {isEditable && (
            <Tooltip label={t("Edit")}>
              <ActionIcon
                className="segment-edit"
                variant="subtle"
                color="gray"
                size="sm"
                aria-label={t("Edit the passage at {{time}}", { time: toClock(segment.start) })}
                onClick={() => setIsEditing(true)}
              >
                <IconPencil size={15} />
              </ActionIcon>
            </Tooltip>
          )}
        </>
      )}
    </li>
  );
});

function SegmentForm({ segment, onClose }: { segment: Segment; onClose: () => void }) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    studioStore.editText(segment.id, String(new FormData(event.currentTarget).get("text") ?? "").trim());
    onClose();
  };
  return (
    <form onSubmit={submit} className="segment-form">
      <Textarea
        name="text"
        aria-label={t("Text of the passage")}
        autosize
        autoFocus
        defaultValue={segment.text.trim()}
        onKeyDown={(event) => {
          if (event.key === "Escape") onClose();
          if (event.key !== "Enter" || event.shiftKey) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
      />
      <Group gap={6} mt={6}>
        <Button type="submit" size="compact-sm">
          {t("Save")}
        </Button>
        <Button size="compact-sm" variant="subtle" color="gray" onClick={onClose}>
          {t("Cancel")}
        </Button>
      </Group>
    </form>
  );
}
