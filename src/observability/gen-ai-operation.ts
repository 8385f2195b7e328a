import type { Task } from "../contracts/task.ts";

/** Returns `gen_ai.operation.name`: the conventions' name, or the task where they have none. */
export function genAiOperation(task: Task): string {
  return task === "embedding" ? "embeddings" : task;
}
