import { Button, Text } from "@mantine/core";
import { useState } from "react";
import { modelsQuery } from "../../api/models.ts";
import { request, send } from "../../api/request.ts";
import { useSession } from "../../api/session.ts";
import { notifyFailure } from "../../components/notify.tsx";
import { useAction } from "../../components/use-action.ts";
import { t } from "../../i18n/translate.ts";
import { PullBar } from "../models/pull-bar.tsx";
import { type PullProgress, readPull } from "../models/read-pull.ts";

// untranslated: an ID
const SPEAKER_MODEL = "campplus";

/** What stands in place of the switch for speakers where the model has none: how to add them, for who may. */
export function AddSpeakers({ model }: { model: string }) {
  const { is_admin: isAdmin, organization } = useSession();
  const [progress, setProgress] = useState<PullProgress>();
  const adding = useAction(() => addSpeakers(model, setProgress), { changes: [modelsQuery.queryKey] });
  if (adding.isPending && progress !== undefined) return <PullBar model={SPEAKER_MODEL} progress={progress} />;
  return (
    <div className="studio-speakers">
      <Text size="xs" c="dimmed">
        {adding.isSuccess
          ? t("This model cannot tell speakers apart. Choose another one.")
          : t("This model cannot tell speakers apart yet.")}
      </Text>
      {isAdmin && organization.is_default ? (
        !adding.isSuccess && (
          <Button
            size="compact-sm"
            variant="default"
            loading={adding.isPending}
            onClick={() => adding.mutate(undefined, { onError: notifyFailure })}
          >
            {t("Add speakers (81 MB)")}
          </Button>
        )
      ) : (
        <Text size="xs" c="dimmed">
          {t("An administrator can add speakers on this page.")}
        </Text>
      )}
    </div>
  );
}

/** Pulls the model that tells voices apart, and loads the transcription model again, which then finds it. */
async function addSpeakers(model: string, onProgress: (progress: PullProgress) => void): Promise<void> {
  const pathOf = (id: string, action: string) => `v1/organization/models/${encodeURIComponent(id)}/${action}`;
  await readPull(await send(pathOf(SPEAKER_MODEL, "pull"), { method: "POST" }), onProgress);
  for (const action of ["unload", "load"]) await request(pathOf(model, action), { method: "POST" });
}
