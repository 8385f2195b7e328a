import { queryOptions } from "@tanstack/react-query";
import { request } from "../../api/request.ts";

export interface Setting {
  key: string;
  value: unknown;
  default: unknown;
  source: "default" | "file" | "environment";
  description: string;
}

export interface Configuration {
  version: string;
  file: string | null;
  settings: Setting[];
  models: { id: string }[];
}

export const configurationQuery = queryOptions({
  queryKey: ["configuration"],
  queryFn: ({ signal }) => request<Configuration>("v1/organization/configuration", { signal }),
});
