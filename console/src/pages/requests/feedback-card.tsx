import { Card, Group, Stack, Text, Title } from "@mantine/core";
import { formatDateTime } from "../../components/format.ts";
import { t } from "../../i18n/translate.ts";
import { RatingButtons } from "./rating-buttons.tsx";
import { type RequestDetails, requestQuery } from "./requests-api.ts";

/** Feedback about a request, and buttons to add one. */
export function FeedbackCard({ entry: { id, feedback } }: { entry: RequestDetails }) {
  return (
    <Card>
      <Group justify="space-between">
        <Title order={2}>{t("Feedback")}</Title>
        <RatingButtons request={id} changes={[requestQuery(id).queryKey]} />
      </Group>
      <Stack gap={4} mt="xs">
        {feedback.length === 0 && (
          <Text size="sm" c="dimmed">
            {t("None yet")}
          </Text>
        )}
        {feedback.map((each) => (
          <Text key={each.id} size="sm" className="wrap-anywhere">
            {each.score !== null && `${t("Score {{score}}", { score: each.score })} · `}
            {each.tags.length > 0 && `${each.tags.join(", ")} · `}
            {each.comment !== null && `${each.comment} · `}
            <Text span size="xs" c="dimmed">
              {formatDateTime(each.updated_at)}
            </Text>
          </Text>
        ))}
      </Stack>
    </Card>
  );
}
