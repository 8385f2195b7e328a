import { MultiSelect } from "@mantine/core";
import { t } from "../../../i18n/translate.ts";
import type { Parameters } from "../conversation.ts";
import type { McpToolName } from "./service-tools.ts";

interface AllowedToolsProps {
  parameters: Parameters;
  onChange: (parameters: Parameters) => void;
}

/** Tools of MCP servers that the model calls without a question. */
export function AllowedTools({ parameters, onChange }: AllowedToolsProps) {
  const { allowedTools = [] } = parameters;
  if (allowedTools.length === 0) return null;
  return (
    <MultiSelect
      label={t("Allowed in this conversation")}
      description={t("The model calls these tools without asking. Remove one to be asked again.")}
      data={allowedTools.map(toText)}
      value={allowedTools.map(toText)}
      onChange={(next) =>
        onChange({ ...parameters, allowedTools: allowedTools.filter((each) => next.includes(toText(each))) })
      }
    />
  );
}

function toText({ server, tool }: McpToolName): string {
  return `${server} / ${tool}`;
}
