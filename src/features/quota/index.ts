/** What other features may use. */

export type { PasswordAttempts } from "./password-attempts.ts";
export {
  countedName,
  PERIOD_NAMES,
  type SpendBound,
  type SpendScope,
  type SpendSubject,
  type SpentAmount,
  SUBJECT_NAMES,
  thresholdOf,
} from "./spend-bound.ts";
export type { SpendLimit } from "./spend-limit-service.ts";
export type { SpendLimitsOptions } from "./spend-limits.ts";
export { NO_END, type SpendPeriod, type SpendWindow, spendWindow, startOfDay } from "./spend-window.ts";
