import { Anchor, Card, SimpleGrid, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useSession } from "../../api/session.ts";
import { AsCode } from "../../components/as-code.tsx";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { DialogButton } from "../../components/dialog-button.tsx";
import { NeedsProjectKey } from "../../components/needs-project-key.tsx";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { useAddressState } from "../../components/use-address-state.ts";
import { t } from "../../i18n/translate.ts";
import { IconPlus } from "../../icons.tsx";
import { CompareVersions } from "./compare-versions.tsx";
import { LabelCard } from "./label-card.tsx";
import { promptSamples } from "./prompt-samples.ts";
import {
  addVersion,
  deletePrompt,
  mayWritePrompts,
  PROMPT_QUERIES,
  type PromptDetails,
  promptQuery,
} from "./prompts-api.ts";
import { TryVersion } from "./try-version.tsx";
import { VersionContent } from "./version-content.tsx";
import { VersionDialog } from "./version-dialog.tsx";
import { VersionTable } from "./version-table.tsx";

/** A stored prompt: its versions, their labels, cost and rating, and one version to read and try. */
export function PromptPage() {
  const { prompt } = useParams({ strict: false }) as { prompt: string };
  const { project } = useSession();
  const query = useQuery({ ...promptQuery(prompt), enabled: project !== null });
  if (project === null) return <NeedsProjectKey />;
  return (
    <QueryView query={query} loading="page">
      {(details) => <Prompt details={details} />}
    </QueryView>
  );
}

function Prompt({ details }: { details: PromptDetails }) {
  const { prompt, versions, usage } = details;
  const isWriter = mayWritePrompts(useSession());
  const navigate = useNavigate();
  const [address, setAddress] = useAddressState({ version: "" });
  const [compared, setCompared] = useState<number>();
  const shown = versions.find(({ version }) => String(version) === address.version) ?? versions[0];
  if (shown === undefined) return null;
  return (
    <Page
      title={prompt.name}
      description={
        <>
          <Anchor component={Link} to="/prompts" size="sm">
            {t("Prompts")}
          </Anchor>
          {prompt.description !== null && ` · ${prompt.description}`}
        </>
      }
      actions={
        <>
          <AsCode samples={() => promptSamples(prompt.name, shown)} />
          {isWriter && (
            <>
              <ConfirmButton
                variant="default"
                size="sm"
                question={t("Delete the prompt {{name}}?", { name: prompt.name })}
                consequence={t("All its versions are deleted, and requests that name it fail.")}
                onConfirm={async () => {
                  await deletePrompt(prompt.id);
                  await navigate({ to: "/prompts" });
                }}
                changes={PROMPT_QUERIES}
              >
                {t("Delete")}
              </ConfirmButton>
              <NewVersion key={shown.version} prompt={prompt.id} base={shown} />
            </>
          )}
        </>
      }
    >
      <LabelCard prompt={prompt} isWriter={isWriter} />
      <VersionTable
        prompt={prompt}
        versions={versions}
        usage={usage}
        shown={shown.version}
        isWriter={isWriter}
        show={(version) => setAddress({ version: String(version) })}
        compare={setCompared}
      />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm">
        <Card>
          <Title order={2} mb="sm">
            {t("Version {{version}}", { version: String(shown.version) })}
          </Title>
          <VersionContent content={shown.content} note={shown.note} />
        </Card>
        <TryVersion key={shown.version} version={shown} />
      </SimpleGrid>
      {compared !== undefined && (
        <CompareVersions versions={versions} version={compared} close={() => setCompared(undefined)} />
      )}
    </Page>
  );
}

function NewVersion({ prompt, base }: { prompt: string; base: PromptDetails["versions"][number] }) {
  const [, setAddress] = useAddressState({ version: "" });
  return (
    <DialogButton label={t("New version")} leftSection={<IconPlus size={16} />}>
      {(close) => (
        <VersionDialog
          title={t("New version from version {{version}}", { version: String(base.version) })}
          initial={base.content}
          action={t("Add version")}
          onClose={close}
          save={async ({ content, note }) => {
            const { version } = await addVersion(prompt, content, note);
            return () => setAddress({ version: String(version) });
          }}
          done={t("Version added. Move a label to it to roll it out.")}
        />
      )}
    </DialogButton>
  );
}
