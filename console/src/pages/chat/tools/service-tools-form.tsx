import { MultiSelect, Stack, Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { storesQuery } from "../../stores/stores-api.ts";
import type { Parameters } from "../conversation.ts";

interface ServiceToolsFormProps {
  parameters: Parameters;
  onChange: (parameters: Parameters) => void;
}

/** Tools that the service runs for the answers of a chat. */
export function ServiceToolsForm({ parameters, onChange }: ServiceToolsFormProps) {
  const { data: stores = [] } = useQuery(storesQuery);
  const { vectorStores = [], webSearch = false } = parameters;
  const usable = stores.filter(({ status }) => status !== "expired");
  return (
    <Stack gap="sm">
      {(usable.length > 0 || vectorStores.length > 0) && (
        <MultiSelect
          label="Vector stores"
          description="The model searches them with file_search."
          placeholder={vectorStores.length === 0 ? "None" : ""}
          clearable
          data={usable.map(({ id, name }) => ({ value: id, label: name || id }))}
          value={vectorStores}
          onChange={(next) => onChange({ ...parameters, vectorStores: next })}
        />
      )}
      <Switch
        label="Web search"
        description="The model searches the web, if the service has a search engine."
        checked={webSearch}
        onChange={(event) => onChange({ ...parameters, webSearch: event.currentTarget.checked })}
      />
    </Stack>
  );
}
