import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "./request.ts";
import { sessionQuery } from "./session.ts";

/** Shows the sign-in page once the session has ended, whichever request notices. */
function noticeEndedSession(error: Error): void {
  if (error instanceof ApiError && error.status === 401 && error.code === "session_ended") {
    void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
  }
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noticeEndedSession }),
  mutationCache: new MutationCache({ onError: noticeEndedSession }),
  defaultOptions: {
    queries: {
      retry: (failures, error) =>
        failures < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500),
      staleTime: 5_000,
    },
  },
});
