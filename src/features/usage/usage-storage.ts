import type { SpendLimitsOptions } from "../quota/index.ts";
import type { RequestHistory } from "./request-history.ts";
import type { UsageRecorder } from "./usage-recorder.ts";
import type { UsageReports } from "./usage-report.ts";

/** Usage records and the request history, as other features use them. */
export interface UsageStorage {
  recorder: UsageRecorder;
  history: RequestHistory;
  reports: UsageReports;
  spentIn: SpendLimitsOptions["spentIn"];
}
