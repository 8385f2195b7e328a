import { ActionIcon, Group } from "@mantine/core";
import type { QueryKey } from "@tanstack/react-query";
import { Tooltip } from "../../components/tooltip.tsx";
import { useSave } from "../../components/use-save.ts";
import { msg, t } from "../../i18n/translate.ts";
import { IconThumbDown, IconThumbUp } from "../../icons.tsx";
import { rateRequest } from "./requests-api.ts";

interface RatingButtonsProps {
  request: string;
  /** Present score of this user; undefined: none. */
  score?: number | null | undefined;
  onRated?: (score: 0 | 1) => void;
  /** Prefixes of the queries that show ratings. */
  changes?: readonly QueryKey[];
}

const CHOICES = [
  { score: 1, label: msg("Good answer"), Icon: IconThumbUp },
  { score: 0, label: msg("Bad answer"), Icon: IconThumbDown },
] as const;

/** Thumbs up and down for the answer to a request. */
export function RatingButtons({ request, score, onRated, changes = [] }: RatingButtonsProps) {
  const rating = useSave({
    save: (next: 0 | 1) => rateRequest(request, next),
    changes,
    onSaved: (_answer, next) => onRated?.(next),
  });
  const shown = rating.data === undefined ? score : rating.variables;
  return (
    <Group gap={0}>
      {CHOICES.map(({ score: value, label, Icon }) => (
        <Tooltip key={value} label={t(label)}>
          <ActionIcon
            variant={shown === value ? "light" : "subtle"}
            color={shown === value ? undefined : "gray"}
            aria-label={t(label)}
            aria-pressed={shown === value}
            onClick={() => rating.mutate(value)}
          >
            <Icon size={15} />
          </ActionIcon>
        </Tooltip>
      ))}
    </Group>
  );
}
