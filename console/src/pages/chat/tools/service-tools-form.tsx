import { MultiSelect, Stack, Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { modelsQuery } from "../../../api/models.ts";
import { t } from "../../../i18n/translate.ts";
import { useProjectServers } from "../../mcp/mcp-api.ts";
import { storesQuery } from "../../stores/stores-api.ts";
import type { Parameters } from "../conversation.ts";
import type { McpToolName } from "./service-tools.ts";

interface ServiceToolsFormProps {
  parameters: Parameters;
  onChange: (parameters: Parameters) => void;
}

/** Tools that the service runs for the answers of a chat. */
export function ServiceToolsForm({ parameters, onChange }: ServiceToolsFormProps) {
  const { data: stores = [] } = useQuery(storesQuery);
  const { data: models = [] } = useQuery(modelsQuery);
  const { vectorStores = [], webSearch = false, codeInterpreter = false, imageGeneration = false } = parameters;
  const usable = stores.filter(({ status }) => status !== "expired");
  const canDraw = models.some(({ metadata }) => metadata.task === "image");
  return (
    <Stack gap="sm">
      {(usable.length > 0 || vectorStores.length > 0) && (
        <MultiSelect
          label={t("Vector stores")}
          description={t("The model searches them with file_search.")}
          placeholder={vectorStores.length === 0 ? t("None") : ""}
          clearable
          data={usable.map(({ id, name }) => ({ value: id, label: name || id }))}
          value={vectorStores}
          onChange={(next) => onChange({ ...parameters, vectorStores: next })}
        />
      )}
      <McpFields parameters={parameters} onChange={onChange} />
      <Switch
        label={t("Web search")}
        description={t("The model searches the web, if the service has a search engine.")}
        checked={webSearch}
        onChange={(event) => onChange({ ...parameters, webSearch: event.currentTarget.checked })}
      />
      <Switch
        label={t("Code interpreter")}
        description={t("The model runs Python in a sandbox, if the operator has turned it on.")}
        checked={codeInterpreter}
        onChange={(event) => onChange({ ...parameters, codeInterpreter: event.currentTarget.checked })}
      />
      {(canDraw || imageGeneration) && (
        <Switch
          label={t("Image generation")}
          description={t("The model makes images with an image model, and changes the latest one.")}
          checked={imageGeneration}
          onChange={(event) => onChange({ ...parameters, imageGeneration: event.currentTarget.checked })}
        />
      )}
    </Stack>
  );
}

/** MCP servers whose tools the model calls, and the tools that it calls without a question. */
function McpFields({ parameters, onChange }: ServiceToolsFormProps) {
  const servers = useProjectServers();
  const { mcpServers = [], allowedTools = [] } = parameters;
  const names = [...new Set([...servers.map(({ id }) => id), ...mcpServers])];
  if (names.length === 0) return null;
  return (
    <>
      <MultiSelect
        label={t("MCP servers")}
        description={t("The model calls their tools; each call asks you first.")}
        placeholder={mcpServers.length === 0 ? t("None") : ""}
        clearable
        data={names}
        value={mcpServers}
        onChange={(next) => onChange({ ...parameters, mcpServers: next })}
      />
      {allowedTools.length > 0 && (
        <MultiSelect
          label={t("Allowed in this conversation")}
          description={t("The model calls these tools without asking. Remove one to be asked again.")}
          data={allowedTools.map(toText)}
          value={allowedTools.map(toText)}
          onChange={(next) =>
            onChange({ ...parameters, allowedTools: allowedTools.filter((each) => next.includes(toText(each))) })
          }
        />
      )}
    </>
  );
}

function toText({ server, tool }: McpToolName): string {
  return `${server} / ${tool}`;
}
