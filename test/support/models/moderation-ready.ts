import { setTimeout as pause } from "node:timers/promises";
import type { Service } from "../service/service.ts";

/** Waits until a moderation model is ready: configured models do not delay the service's readiness. */
export async function untilModerationReady(service: Service, model: string): Promise<void> {
  const deadline = Date.now() + 200_000;
  for (;;) {
    const response = await service.post("/v1/moderations", { model, input: "Hello" });
    const body = await response.text();
    if (response.ok) return;
    if (response.status !== 503 || Date.now() > deadline) throw new Error(`${model} does not judge: ${body}`);
    await pause(200);
  }
}
