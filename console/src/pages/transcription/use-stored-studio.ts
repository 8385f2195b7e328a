import { useEffect } from "react";
import { useSession } from "../../api/session.ts";
import { studioStore } from "./studio-store.ts";

/** Opens what this person had open before the page was loaded, and stores what changes. */
export function useStoredStudio(): void {
  const { user, project } = useSession();
  const owner = JSON.stringify([user?.id, project?.id]);
  useEffect(() => void studioStore.enter(owner), [owner]);
}
