import { Fault } from "../kernel/faults.ts";
import type { ServiceClient } from "./service-client.ts";

/** ID of the first chat model that the key may use. Throws a Fault where there is none. */
export async function firstChatModel(service: ServiceClient): Promise<string> {
  const [first] = await chatModels(service);
  if (first === undefined) throw new Fault("not-found", `${service.origin} serves no chat model.`);
  return first;
}

/** IDs of the chat models; a wildcard is not one. */
export async function chatModels(service: ServiceClient): Promise<string[]> {
  const { data } = await service.read<{ data: { id: string }[] }>("GET", "/v1/models?task=chat");
  return data.map(({ id }) => id).filter((id) => !id.endsWith("/*"));
}
