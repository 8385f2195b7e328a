/** Events that an endpoint can get, by what they are about. */
export const EVENT_GROUPS: Readonly<Record<string, readonly string[]>> = {
  Keys: ["api_key.created", "api_key.deleted"],
  Spending: ["spend_limit.reached", "budget.reached"],
  Deployments: ["deployment.down", "deployment.up"],
  Batches: ["batch.completed", "batch.failed", "batch.expired", "batch.cancelled"],
  Responses: ["response.completed", "response.incomplete", "response.failed", "response.cancelled"],
};

export const EVENTS: readonly string[] = Object.values(EVENT_GROUPS).flat();
