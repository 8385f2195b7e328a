import { Group, Select, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { msg, t, translateLabels } from "../../i18n/translate.ts";

const DAY = 86_400;
const ON_A_DAY = "day";
const CHOICES = [
  { value: "", label: msg("Never") },
  { value: "1", label: msg("In a day") },
  { value: "7", label: msg("In a week") },
  { value: "30", label: msg("In 30 days") },
  { value: "90", label: msg("In 90 days") },
  { value: "365", label: msg("In a year") },
  { value: ON_A_DAY, label: msg("After a day…") },
];

interface ExpiryFieldProps {
  /** Called with the seconds from now on; null: never; undefined while no valid day is chosen. */
  onChange: (seconds: number | null | undefined) => void;
  error?: ReactNode;
}

/** When a key expires; at first never. */
export function ExpiryField({ onChange, error }: ExpiryFieldProps) {
  const [choice, setChoice] = useState("");
  const [day, setDay] = useState("");
  const choose = (next: string) => {
    setChoice(next);
    if (next === ON_A_DAY) onChange(secondsToEndOf(day));
    else onChange(next === "" ? null : Number(next) * DAY);
  };
  return (
    <Group align="flex-end" gap="sm">
      <Select
        label={t("Expires")}
        error={error}
        flex="1 1 160px"
        data={translateLabels(CHOICES)}
        allowDeselect={false}
        value={choice}
        onChange={(next) => choose(next ?? "")}
      />
      {choice === ON_A_DAY && (
        <TextInput
          type="date"
          label={t("Last day")}
          flex="1 1 160px"
          required
          value={day}
          error={day !== "" && secondsToEndOf(day) === undefined ? t("It must be in the future.") : undefined}
          onChange={(event) => {
            setDay(event.currentTarget.value);
            onChange(secondsToEndOf(event.currentTarget.value));
          }}
        />
      )}
    </Group>
  );
}

/** Seconds from now to the end of a local day; undefined for one that is over. */
export function secondsToEndOf(day: string, now = Date.now()): number | undefined {
  // Without a time zone, a date with a time is local, and one without is UTC.
  const end = Date.parse(`${day}T23:59:59`);
  const seconds = Math.floor((end - now) / 1000);
  return seconds > 0 ? seconds : undefined;
}
