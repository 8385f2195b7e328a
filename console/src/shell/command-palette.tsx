import { Modal, ScrollArea, Text, TextInput, UnstyledButton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { modelsQuery } from "../api/models.ts";
import { useSession } from "../api/session.ts";
import { msg, t } from "../i18n/translate.ts";
import { IconSearch } from "../icons.tsx";
import { chatStore } from "../pages/chat/chat-store.ts";
import { chatSync } from "../pages/chat/chat-sync.ts";
import { newConversation } from "../pages/chat/conversation.ts";
import { projectsQuery } from "../pages/projects/projects-api.ts";
import { type Command, findCommands } from "./find-commands.ts";
import { navigationFor, pagesOf } from "./navigation.ts";

interface CommandPaletteProps {
  isOpen: boolean;
  onClose: () => void;
  /** Commands of the shell, such as to sign out. */
  actions: Command[];
}

const MAX_SHOWN = 60;

/** What is done on a page, for those who may see it. */
const TASKS = [
  { id: "failed", label: msg("Show failed requests"), to: "/requests", search: { status: "failed" } },
  { id: "library", label: msg("Pull a model from the library"), to: "/models", search: { view: "library" } },
  { id: "connect", label: msg("Connect a host"), to: "/connections", search: {} },
  { id: "budget", label: msg("Set a budget"), to: "/budgets", search: {} },
  { id: "invite", label: msg("Invite a person"), to: "/people", search: { tab: "invites" } },
  { id: "cost", label: msg("Show costs of the last 30 days"), to: "/usage", search: { range: "30d", metric: "cost" } },
] as const;

/** Finds pages, models, projects, conversations and actions by a few letters. */
export function CommandPalette({ isOpen, onClose, actions }: CommandPaletteProps) {
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      attributes={{ content: { "aria-label": t("Go to") } }}
      withCloseButton={false}
      padding={0}
      size={560}
      centered={false}
      yOffset="12vh"
    >
      {isOpen && <Finder onClose={onClose} actions={actions} />}
    </Modal>
  );
}

function Finder({ onClose, actions }: Omit<CommandPaletteProps, "isOpen">) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const commands = useCommands(actions);
  const deferred = useDeferredValue(text);
  const results = useMemo(() => findCommands(commands, deferred).slice(0, MAX_SHOWN), [commands, deferred]);
  const list = useRef<HTMLDivElement>(null);
  const current = Math.min(at, results.length - 1);
  useEffect(() => {
    list.current?.querySelector(`[data-index="${current}"]`)?.scrollIntoView({ block: "nearest" });
  }, [current]);
  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "ArrowDown") setAt((current + 1) % Math.max(1, results.length));
    else if (event.key === "ArrowUp") setAt((current - 1 + results.length) % Math.max(1, results.length));
    // The list may still be that of the text before.
    else if (event.key === "Enter") run(deferred === text ? results[current] : findCommands(commands, text)[0]);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <TextInput
        className="palette-input"
        variant="unstyled"
        size="md"
        px="md"
        data-autofocus
        role="combobox"
        aria-label={t("Go to or do")}
        aria-expanded
        aria-controls="palette-list"
        aria-activedescendant={results.length === 0 ? undefined : `palette-${current}`}
        placeholder={t("Go to a page, model, project or conversation")}
        leftSection={<IconSearch size={17} />}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ScrollArea.Autosize mah="52vh" type="auto" scrollbarSize={6} viewportRef={list}>
        <div id="palette-list" role="listbox" aria-label={t("Results")} className="palette">
          {results.map((command, index) => (
            <UnstyledButton
              key={command.id}
              id={`palette-${index}`}
              data-index={index}
              role="option"
              tabIndex={-1}
              aria-selected={index === current}
              className="palette-option"
              onPointerMove={() => setAt(index)}
              onClick={() => run(command)}
            >
              <Text size="sm" truncate>
                {command.label}
              </Text>
              <Text size="xs" c="dimmed" className="nowrap">
                {command.kind}
              </Text>
            </UnstyledButton>
          ))}
        </div>
        {results.length === 0 && (
          <Text size="sm" c="dimmed" p="md" role="status">
            {t("Nothing matches “{{text}}”.", { text })}
          </Text>
        )}
      </ScrollArea.Autosize>
    </>
  );
}

function useCommands(actions: Command[]): Command[] {
  const session = useSession();
  const navigate = useNavigate();
  const models = useQuery({ ...modelsQuery, enabled: session.project !== null });
  const projects = useQuery({ ...projectsQuery(false), enabled: session.is_admin });
  return useMemo(() => {
    const pages = navigationFor(session).flatMap((place) =>
      pagesOf([place]).map(({ to, label }) => ({
        id: to,
        label,
        kind: place.label,
        run: () => void navigate({ to }),
      })),
    );
    const chats = (models.data ?? [])
      .filter(({ metadata }) => metadata.task === "chat")
      .map(({ id }) => ({
        id: `chat ${id}`,
        label: t("Chat with {{id}}", { id }),
        kind: t("Model"),
        run: () => {
          const conversation = newConversation([id]);
          chatStore.add(conversation);
          void navigate({ to: "/chat", search: { c: conversation.id } as never });
        },
      }));
    const tasks: Command[] = [
      {
        ...{ id: "new-chat", label: t("New conversation"), kind: t("Action") },
        run: () => {
          const conversation = newConversation();
          chatStore.add(conversation);
          void navigate({ to: "/chat", search: { c: conversation.id } as never });
        },
      },
      ...TASKS.flatMap(({ id, label, to, search }) =>
        pages.some((page) => page.id === to)
          ? [{ id, label: t(label), kind: t("Action"), run: () => void navigate({ to, search: search as never }) }]
          : [],
      ),
    ];
    const ofProjects = (projects.data ?? []).map(({ id, name }) => ({
      id,
      label: name,
      kind: t("Project"),
      run: () => void navigate({ to: "/projects/$project", params: { project: id } as never }),
    }));
    const conversations = chatSync.titles().map(({ id, title }) => ({
      id: `conversation ${id}`,
      label: title,
      kind: t("Conversation"),
      run: () => void navigate({ to: "/chat", search: { c: id } as never }),
    }));
    return [...pages, ...tasks, ...actions, ...chats, ...ofProjects, ...conversations];
  }, [session, navigate, models.data, projects.data, actions]);
}
