import { queryOptions } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";

export type Deployment = NonNullable<Overview["deployments"]>[number];

/** Endpoints from the DNS or a file, for which one entry of parlance.yaml stands. */
export type Pool = NonNullable<Overview["pools"]>[number];

export type SpendLimit = Overview["spend"]["limits"][number];

export type Overview = Answers["Overview"];

export const overviewQuery = queryOptions({
  queryKey: ["overview"],
  queryFn: ({ signal }) => request<Overview>("v1/organization/overview", { signal }),
  refetchInterval: 3000,
});
