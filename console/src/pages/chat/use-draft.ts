import { type Dispatch, type SetStateAction, useEffect, useState } from "react";
import { useSession } from "../../api/session.ts";

const NONE = { owner: "", text: "" };
let latest = NONE;

export function forgetDraft(): void {
  latest = NONE;
}

/** The text that is not sent yet. It survives other pages, and another language, which mounts this one again. */
export function useDraft(): [string, Dispatch<SetStateAction<string>>] {
  const { user, project } = useSession();
  const owner = JSON.stringify([user?.id, project?.id]);
  const [text, setText] = useState(() => (latest.owner === owner ? latest.text : ""));
  useEffect(() => {
    latest = { owner, text };
  }, [owner, text]);
  return [text, setText];
}
