import { Drawer } from "@mantine/core";
import { t } from "../../i18n/translate.ts";
import { ParametersForm, type ParametersFormProps } from "./parameters-form.tsx";

interface ParametersDrawerProps extends ParametersFormProps {
  isOpen: boolean;
  onClose: () => void;
}

/** System prompt, sampling and tools of a conversation, folded away until they are asked for. */
export function ParametersDrawer({ isOpen, onClose, ...form }: ParametersDrawerProps) {
  return (
    <Drawer opened={isOpen} onClose={onClose} position="right" title={t("Parameters")} size="sm">
      <ParametersForm {...form} />
    </Drawer>
  );
}
