import { queryOptions } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";

export type Setting = Configuration["settings"][number];

export type Configuration = Answers["Configuration"];

export const configurationQuery = queryOptions({
  queryKey: ["configuration"],
  queryFn: ({ signal }) => request<Configuration>("v1/organization/configuration", { signal }),
});
