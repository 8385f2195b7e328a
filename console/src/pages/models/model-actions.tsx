import { Button, Group, Stack } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type ModelEntry, modelsQuery } from "../../api/models.ts";
import { request, send } from "../../api/request.ts";
import { useSession } from "../../api/session.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { notifyDone, notifyFailure } from "../../components/notify.tsx";
import { t } from "../../i18n/translate.ts";
import { configurationQuery } from "../configuration/configuration-query.ts";
import { PullBar } from "./pull-bar.tsx";
import { type PullProgress, readPull } from "./read-pull.ts";

export function ModelActions({ model }: { model: ModelEntry }) {
  const session = useSession();
  const client = useQueryClient();
  const [progress, setProgress] = useState<PullProgress>();
  const [isBusy, setIsBusy] = useState(false);
  const isOperator = session.is_admin && session.organization.is_default;
  const configuration = useQuery({ ...configurationQuery, enabled: isOperator });
  if (!isOperator || !model.metadata.deployed.includes("local")) return null;
  // The files of a configured model belong to its deployments, whose names in the store are not known here.
  const isStored = configuration.data?.models.every(({ id }) => id !== model.id) ?? false;
  const path = `v1/organization/models/${encodeURIComponent(model.id)}`;
  const run = async (work: () => Promise<unknown>, done: string) => {
    setIsBusy(true);
    try {
      await work();
      notifyDone(done);
    } catch (failure) {
      notifyFailure(failure);
    } finally {
      setIsBusy(false);
      setProgress(undefined);
      await client.invalidateQueries({ queryKey: modelsQuery.queryKey });
    }
  };
  const pull = async () => readPull(await send(`${path}/pull`, { method: "POST" }), setProgress);
  return (
    <Stack gap={4} align="flex-end">
      <Group gap={4} wrap="nowrap">
        {model.metadata.loaded ? (
          <Button
            size="compact-sm"
            variant="subtle"
            loading={isBusy}
            onClick={() =>
              run(() => request(`${path}/unload`, { method: "POST" }), t("{{model}} is unloaded", { model: model.id }))
            }
          >
            {t("Unload")}
          </Button>
        ) : (
          <Button
            size="compact-sm"
            variant="subtle"
            loading={isBusy && progress === undefined}
            onClick={() =>
              run(() => request(`${path}/load`, { method: "POST" }), t("{{model}} is loaded", { model: model.id }))
            }
          >
            {t("Load")}
          </Button>
        )}
        {isStored && (
          <>
            <Button
              size="compact-sm"
              variant="subtle"
              disabled={isBusy}
              onClick={() => run(pull, t("The files of {{model}} are complete", { model: model.id }))}
            >
              {t("Pull")}
            </Button>
            <ConfirmButton
              question={t("Remove the files of {{model}}?", { model: model.id })}
              consequence={t("Its files are deleted from this machine. The next request downloads them again.")}
              onConfirm={() =>
                run(
                  () => request(path, { method: "DELETE" }),
                  t("The files of {{model}} are removed", { model: model.id }),
                )
              }
            >
              {t("Remove")}
            </ConfirmButton>
          </>
        )}
      </Group>
      {progress !== undefined && <PullBar model={model.id} progress={progress} />}
    </Stack>
  );
}
