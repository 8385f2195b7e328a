import { FileInput, Text } from "@mantine/core";
import { FormDialog } from "../../components/form-dialog.tsx";
import { formatBytes } from "../../components/format.ts";
import { t } from "../../i18n/translate.ts";
import { IconUpload } from "../../icons.tsx";
import { type Skill, skillsQuery, uploadSkill } from "./skills-api.ts";

interface UploadSkillDialogProps {
  /** The skill that gets a new version; undefined: a new one. */
  skill?: Skill | undefined;
  /** Files that were dropped. */
  initial?: readonly File[];
  onClose: () => void;
}

export function UploadSkillDialog({ skill, initial = [], onClose }: UploadSkillDialogProps) {
  return (
    <FormDialog
      title={skill === undefined ? t("New skill") : t("New version of {{name}}", { name: skill.name })}
      action={t("Upload")}
      onClose={onClose}
      initial={{ files: [...initial] }}
      isReady={({ files }) => files.length > 0}
      save={({ files }) => uploadSkill(files, skill)}
      done={() =>
        skill === undefined ? t("The skill is stored") : t("{{name}} has a new version", { name: skill.name })
      }
      changes={[skillsQuery.queryKey]}
    >
      {(form) => {
        const { files } = form.values;
        return (
          <>
            <FileInput
              label={t("Files")}
              multiple
              placeholder={t("Choose files")}
              leftSection={<IconUpload size={16} />}
              {...form.getInputProps("files")}
              {...(files.length > 0 && { description: formatBytes(files.reduce((sum, { size }) => sum + size, 0)) })}
            />
            <Text size="sm" c="dimmed">
              {t(
                "A zip archive, or SKILL.md with the files that it mentions. SKILL.md begins with a name and a description.",
              )}
            </Text>
          </>
        );
      }}
    </FormDialog>
  );
}
