/** What is recorded of a request that was loaded for, repeated, cached, labelled, failed, or charged for uncommon units. */

import type { CostPart } from "../catalog/prices/cost.ts";
import type { Stage } from "../inference/stages.ts";
import type { ShownDetails, ShownStage } from "../wire/openai/organization/request-entries.ts";

/** Time that a request spent on something beside its answer. */
interface RequestStage extends ShownStage {
  kind: Stage["kind"];
}

export interface RequestDetails extends ShownDetails {
  stages?: readonly RequestStage[] | undefined;
  /** Parts of the cost of a request with more than prompt, cached and completion tokens. */
  costParts?: readonly CostPart[] | undefined;
  /** Version of a stored prompt. */
  prompt?: string | undefined;
}

export function parseRequestDetails(json: string | null): RequestDetails | null {
  return json === null ? null : (JSON.parse(json) as RequestDetails);
}
