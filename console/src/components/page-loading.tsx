import { Skeleton, Stack } from "@mantine/core";
import { t } from "../i18n/translate.ts";

export function PageLoading() {
  return (
    <Stack role="status" aria-busy="true" aria-label={t("Loading")}>
      <Skeleton height={28} width={180} />
      <Skeleton height={120} />
      <Skeleton height={240} />
    </Stack>
  );
}
