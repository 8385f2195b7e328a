import { useRouter } from "@tanstack/react-router";
import { useCallback } from "react";

/** Names a conversation in the address, unless the reader is already on the way to another page. */
export function useChatAddress(): (conversation: string | undefined, replace?: boolean) => void {
  const router = useRouter();
  return useCallback(
    (conversation, replace = false) => {
      if (router.latestLocation.pathname !== "/chat") return;
      const search = conversation === undefined ? {} : { c: conversation };
      void router.navigate({ to: "/chat", search: search as never, replace });
    },
    [router],
  );
}
