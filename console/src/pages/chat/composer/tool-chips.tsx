import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { modelsQuery } from "../../../api/models.ts";
import { useSession } from "../../../api/session.ts";
import { memo } from "../../../i18n/memo.ts";
import { t } from "../../../i18n/translate.ts";
import { IconCode, IconDatabase, IconPhoto, IconPlug, IconPlus, IconWorld } from "../../../icons.tsx";
import { useProjectServers } from "../../mcp/mcp-api.ts";
import { storesQuery } from "../../stores/stores-api.ts";
import type { Parameters } from "../conversation.ts";
import { ComposerPanel } from "./composer-panel.tsx";
import type { ToolListProps } from "./tool-list.tsx";

/** Not part of the first load. */
const ToolList = lazy(async () => ({ default: (await import("./tool-list.tsx")).ToolList }));
const MissingTools = lazy(async () => ({ default: (await import("./missing-tools.tsx")).MissingTools }));

interface ToolChipsProps {
  parameters: Parameters;
  onChange: (parameters: Parameters) => void;
  /** Whether a chosen model calls tools; those that are on can be turned off anyway. */
  canCallTools: boolean;
}

/** Tools that the service runs for the answers: those that work here. */
export const ToolChips = memo(function ToolChips({ parameters, onChange, canCallTools }: ToolChipsProps) {
  const { tools, is_admin: isAdmin, organization } = useSession();
  const { data: stores = [] } = useQuery(storesQuery);
  const { data: models = [] } = useQuery(modelsQuery);
  const servers = useProjectServers();
  const {
    vectorStores = [],
    mcpServers = [],
    webSearch = false,
    codeInterpreter = false,
    imageGeneration = false,
  } = parameters;
  const offers = (type: string) => canCallTools && tools.includes(type);
  const works = {
    web: offers("web_search"),
    code: offers("code_interpreter"),
    images: offers("image_generation") && models.some(({ metadata }) => metadata.task === "image"),
  };
  const usable = stores.filter(({ id, status }) => status !== "expired" || vectorStores.includes(id));
  const names = [...new Set([...servers.map(({ id }) => id), ...mcpServers])];
  const set = (part: Partial<Parameters>) => onChange({ ...parameters, ...part });
  const hasMissing = canCallTools && isAdmin && organization.is_default && Object.values(works).includes(false);
  return (
    <fieldset className="tool-chips" aria-label={t("Tools")}>
      {(works.web || webSearch) && (
        <Chip
          icon={<IconWorld size={14} />}
          label={t("Web search")}
          isOn={webSearch}
          onToggle={() => set({ webSearch: !webSearch })}
        />
      )}
      {(works.code || codeInterpreter) && (
        <Chip
          icon={<IconCode size={14} />}
          label={t("Code interpreter")}
          isOn={codeInterpreter}
          onToggle={() => set({ codeInterpreter: !codeInterpreter })}
        />
      )}
      {(works.images || imageGeneration) && (
        <Chip
          icon={<IconPhoto size={14} />}
          label={t("Image generation")}
          isOn={imageGeneration}
          onToggle={() => set({ imageGeneration: !imageGeneration })}
        />
      )}
      {((canCallTools && usable.length > 0) || vectorStores.length > 0) && (
        <ListChip
          icon={<IconDatabase size={14} />}
          label={t("Vector stores")}
          description={t("The model searches them with file_search.")}
          options={usable.map(({ id, name }) => ({ value: id, label: name || id }))}
          value={vectorStores}
          onChange={(next) => set({ vectorStores: next })}
        />
      )}
      {((canCallTools && names.length > 0) || mcpServers.length > 0) && (
        <ListChip
          icon={<IconPlug size={14} />}
          label={t("MCP servers")}
          description={t("The model calls their tools; each call asks you first.")}
          options={names.map((value) => ({ value, label: value }))}
          value={mcpServers}
          onChange={(next) => set({ mcpServers: next })}
        />
      )}
      {hasMissing && (
        <PanelChip icon={<IconPlus size={14} />} label={t("More tools")} isOn={false} isIcon>
          <Suspense>
            <MissingTools works={works} />
          </Suspense>
        </PanelChip>
      )}
    </fieldset>
  );
});

interface ChipProps {
  icon: ReactNode;
  label: string;
  isOn: boolean;
}

function Chip({ icon, label, isOn, onToggle }: ChipProps & { onToggle: () => void }) {
  return (
    <Button
      variant={isOn ? "light" : "default"}
      size="compact-xs"
      radius="xl"
      leftSection={icon}
      aria-pressed={isOn}
      onClick={onToggle}
    >
      {label}
    </Button>
  );
}

/** `isIcon`: the label is for screen readers and the tooltip. */
function PanelChip({
  icon,
  label,
  isOn,
  isIcon = false,
  children,
}: ChipProps & { isIcon?: boolean; children: ReactNode }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button
        variant={isOn ? "light" : "default"}
        size="compact-xs"
        radius="xl"
        {...(isIcon ? { "aria-label": label, "data-tooltip": label } : { leftSection: icon })}
        data-panel-button
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
      >
        {isIcon ? icon : label}
      </Button>
      {isOpen && (
        <ComposerPanel label={label} onClose={() => setIsOpen(false)}>
          {children}
        </ComposerPanel>
      )}
    </>
  );
}

interface ListChipProps extends ToolListProps {
  icon: ReactNode;
}

function ListChip({ icon, label, description, options, value, onChange }: ListChipProps) {
  const chosen = options.filter((option) => value.includes(option.value));
  const [only] = chosen;
  const shown =
    chosen.length === 1 && only !== undefined ? only.label : chosen.length > 1 ? `${label} · ${chosen.length}` : label;
  return (
    <PanelChip icon={icon} label={shown} isOn={chosen.length > 0}>
      <Suspense>
        <ToolList label={label} description={description} options={options} value={value} onChange={onChange} />
      </Suspense>
    </PanelChip>
  );
}
