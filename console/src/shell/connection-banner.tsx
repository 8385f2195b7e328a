import { Alert } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ApiError } from "../api/request.ts";
import { sessionQuery } from "../api/session.ts";
import { t } from "../i18n/translate.ts";

/** Says that the service does not answer, while the page shows what was read before. */
export function ConnectionBanner() {
  const { failureCount, failureReason } = useQuery(sessionQuery);
  const isAway = failureCount > 0 && failureReason instanceof ApiError && failureReason.status === 0;
  if (!isAway) return null;
  return (
    <Alert color="red" variant="light" role="alert" mb="md" title={t("Parlance does not answer")}>
      {t("What you see may be out of date. The page tries again every few seconds.")}
    </Alert>
  );
}
