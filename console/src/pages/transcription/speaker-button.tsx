import { Button, Popover, Stack, Text, TextInput, UnstyledButton } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { t } from "../../i18n/translate.ts";
import { nameOf, type SpeakerNames } from "./transcript.ts";

const COLORS = [
  "var(--chart-1)",
  "var(--chart-2)",
  "var(--chart-3)",
  "var(--chart-4)",
  "#c2649a",
  "#8d9440",
  "#3f9bb5",
  "#a3785a",
];

/** Color of a speaker, by the order in which they begin. */
export function colorAmong(speakers: readonly string[], speaker: string | null): string {
  const index = speaker === null ? 0 : Math.max(0, speakers.indexOf(speaker));
  return COLORS[index % COLORS.length] ?? "var(--chart-1)";
}

interface SpeakerButtonProps {
  speaker: string;
  speakers: readonly string[];
  names: SpeakerNames;
  detail?: string;
  onRename: (name: string) => void;
  /** Left out where the button stands for the speaker in general. */
  onAssign?: (speaker: string) => void;
}

/** Name of a speaker; opens a form that renames them, or gives one passage to another speaker. */
export function SpeakerButton({ speaker, speakers, names, detail, onRename, onAssign }: SpeakerButtonProps) {
  const [isOpen, setIsOpen] = useState(false);
  const name = nameOf(speaker, names);
  const others = speakers.filter((each) => each !== speaker);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onRename(String(new FormData(event.currentTarget).get("name") ?? ""));
    setIsOpen(false);
  };
  return (
    <Popover opened={isOpen} onChange={setIsOpen} position="bottom-start" shadow="md" trapFocus withinPortal>
      <Popover.Target>
        <UnstyledButton
          className="speaker"
          style={{ "--speaker": colorAmong(speakers, speaker) } as never}
          title={t("Rename {{name}}", { name })}
          onClick={() => setIsOpen(!isOpen)}
        >
          <span className="speaker-dot" />
          <span className="speaker-name">{name}</span>
          {detail !== undefined && <span className="speaker-detail">{detail}</span>}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown p="sm" aria-label={name}>
        <form onSubmit={submit}>
          <Stack gap="xs" w={220}>
            <TextInput
              name="name"
              label={t("Name of the speaker")}
              maxLength={60}
              defaultValue={names[speaker] ?? ""}
              placeholder={t("Speaker {{label}}", { label: speaker })}
              data-autofocus
            />
            <Button type="submit" size="xs">
              {t("Rename everywhere")}
            </Button>
            {onAssign !== undefined && others.length > 0 && (
              <>
                <Text size="xs" c="dimmed">
                  {t("This passage was said by")}
                </Text>
                {others.map((other) => (
                  <UnstyledButton
                    key={other}
                    className="speaker"
                    style={{ "--speaker": colorAmong(speakers, other) } as never}
                    onClick={() => {
                      onAssign(other);
                      setIsOpen(false);
                    }}
                  >
                    <span className="speaker-dot" />
                    <span className="speaker-name">{nameOf(other, names)}</span>
                  </UnstyledButton>
                ))}
              </>
            )}
          </Stack>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
