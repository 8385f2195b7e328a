import { Button, Collapse, Group, JsonInput, Select, Stack, Switch, TagsInput, Textarea } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { NumberField } from "../../components/number-field.tsx";
import { memo } from "../../i18n/memo.ts";
import { t } from "../../i18n/translate.ts";
import { IconChevronDown, IconChevronRight } from "../../icons.tsx";
import { BoundedSlider } from "./bounded-slider.tsx";
import { parameterProblems, toolNames } from "./chat-body.ts";
import type { Parameters } from "./conversation.ts";
import type { ChatBounds } from "./selection.ts";
import { AllowedTools } from "./tools/allowed-tools.tsx";

export interface ParametersFormProps {
  parameters: Parameters;
  onChange: (parameters: Parameters) => void;
  bounds: ChatBounds;
}

const MAX_STOPS = 4;

export const ParametersForm = memo(function ParametersForm({ parameters, onChange, bounds }: ParametersFormProps) {
  const set = (part: Partial<Parameters>) => onChange({ ...parameters, ...part });
  return (
    <Stack gap="md">
      <Textarea
        label={t("System prompt")}
        placeholder={t("You are a helpful assistant.")}
        autosize
        minRows={2}
        maxRows={8}
        value={parameters.system}
        onChange={(event) => set({ system: event.currentTarget.value })}
      />
      <BoundedSlider
        label={t("Temperature")}
        min={0}
        max={2}
        value={parameters.temperature}
        onChange={(temperature) => set({ temperature })}
      />
      <BoundedSlider label={t("Top P")} min={0} max={1} value={parameters.topP} onChange={(topP) => set({ topP })} />
      <Group grow align="flex-start">
        <NumberField
          label={t("Max tokens")}
          placeholder={
            bounds.maxTokens === undefined ? t("Default") : t("1 to {{maximum}}", { maximum: bounds.maxTokens })
          }
          min={1}
          max={bounds.maxTokens}
          value={parameters.maxTokens}
          onChange={(maxTokens) => set({ maxTokens })}
        />
        <NumberField
          label={t("Seed")}
          placeholder={t("Random")}
          value={parameters.seed}
          onChange={(seed) => set({ seed })}
        />
      </Group>
      <MoreSampling parameters={parameters} onChange={onChange} bounds={bounds} />
      {bounds.reasoning && (
        <Select
          label={t("Reasoning effort")}
          placeholder={t("Default")}
          clearable
          data={["none", "low", "medium", "high"]}
          value={parameters.reasoningEffort ?? null}
          onChange={(value) => set({ reasoningEffort: value ?? undefined })}
        />
      )}
      {bounds.logprobs && (
        <Switch
          label={t("Log probabilities")}
          description={t("Colors each token by how probable it was.")}
          checked={parameters.logprobs === true}
          onChange={(event) => set({ logprobs: event.currentTarget.checked ? true : undefined })}
        />
      )}
      <AllowedTools parameters={parameters} onChange={onChange} />
      <JsonFields parameters={parameters} onChange={onChange} bounds={bounds} />
    </Stack>
  );
});

function MoreSampling({ parameters, onChange, bounds }: ParametersFormProps) {
  const [isOpen, { toggle }] = useDisclosure(false);
  const set = (part: Partial<Parameters>) => onChange({ ...parameters, ...part });
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <div>
      <Button
        variant="transparent"
        size="compact-sm"
        px={0}
        aria-expanded={isOpen}
        leftSection={<Chevron size={14} />}
        onClick={toggle}
      >
        {t("More sampling parameters")}
      </Button>
      <Collapse expanded={isOpen}>
        <Stack gap="md" pt="sm">
          <BoundedSlider
            label={t("Frequency penalty")}
            min={-2}
            max={2}
            value={parameters.frequencyPenalty}
            onChange={(frequencyPenalty) => set({ frequencyPenalty })}
          />
          <BoundedSlider
            label={t("Presence penalty")}
            min={-2}
            max={2}
            value={parameters.presencePenalty}
            onChange={(presencePenalty) => set({ presencePenalty })}
          />
          <BoundedSlider
            label={t("Repeat penalty")}
            min={0.05}
            max={2}
            neutral={1}
            value={parameters.repeatPenalty}
            onChange={(repeatPenalty) => set({ repeatPenalty })}
          />
          <BoundedSlider
            label={t("Min P")}
            min={0}
            max={1}
            neutral={0}
            value={parameters.minP}
            onChange={(minP) => set({ minP })}
          />
          <Group grow align="flex-start">
            <NumberField label={t("Top K")} min={0} value={parameters.topK} onChange={(topK) => set({ topK })} />
            <NumberField
              label={t("Min tokens")}
              min={0}
              max={bounds.maxTokens}
              value={parameters.minTokens}
              onChange={(minTokens) => set({ minTokens })}
            />
          </Group>
          {bounds.maxChoices > 1 && (
            <NumberField
              label={t("Choices")}
              placeholder={t("1 to {{maximum}}", { maximum: bounds.maxChoices })}
              min={1}
              max={bounds.maxChoices}
              value={parameters.choices}
              onChange={(choices) => set({ choices })}
            />
          )}
          <TagsInput
            label={t("Stop sequences")}
            placeholder={parameters.stop.length === 0 ? t("At most {{number}}, with Enter", { number: MAX_STOPS }) : ""}
            maxTags={MAX_STOPS}
            value={parameters.stop}
            onChange={(stop) => set({ stop })}
          />
        </Stack>
      </Collapse>
    </div>
  );
}

const JSON_FIELD = { formatOnBlur: true, autosize: true, minRows: 2, maxRows: 12 } as const;
const CHOICES = ["auto", "none", "required"];

function JsonFields({ parameters, onChange, bounds }: ParametersFormProps) {
  const set = (part: Partial<Parameters>) => onChange({ ...parameters, ...part });
  const problems = parameterProblems(parameters);
  const names = toolNames(parameters);
  const isParallel = parameters.parallelToolCalls;
  return (
    <>
      {bounds.jsonSchema && (
        <JsonInput
          {...JSON_FIELD}
          label={t("JSON Schema of the answer")}
          placeholder={t('{"type": "object", …}')}
          error={problems.schema}
          value={parameters.schema}
          onChange={(schema) => set({ schema })}
        />
      )}
      {bounds.tools && (
        <JsonInput
          {...JSON_FIELD}
          label={t("Tools")}
          placeholder={t('[{"type": "function", "function": {…}}]')}
          error={problems.tools}
          value={parameters.tools}
          onChange={(tools) => set({ tools })}
        />
      )}
      {bounds.tools && names.length > 0 && (
        <Group grow align="flex-start">
          <Select
            label={t("Tool choice")}
            placeholder={t("Default")}
            clearable
            data={[...CHOICES, ...names.filter((name) => !CHOICES.includes(name))]}
            value={parameters.toolChoice ?? null}
            onChange={(choice) => set({ toolChoice: choice ?? undefined })}
          />
          <Select
            label={t("Parallel calls")}
            placeholder={t("Default")}
            clearable
            data={["yes", "no"]}
            value={isParallel === undefined ? null : isParallel ? "yes" : "no"}
            onChange={(choice) => set({ parallelToolCalls: choice === null ? undefined : choice === "yes" })}
          />
        </Group>
      )}
      <JsonInput
        {...JSON_FIELD}
        label={t("Extra request fields (JSON)")}
        description={t("For example logit_bias or metadata.")}
        placeholder={t('{"logit_bias": {"42": -100}}')}
        error={problems.other}
        value={parameters.other}
        onChange={(other) => set({ other })}
      />
    </>
  );
}
