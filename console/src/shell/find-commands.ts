export interface Command {
  id: string;
  label: string;
  /** Group of the command, shown beside it and searched too. */
  kind: string;
  run: () => void;
}

/** Commands that contain every word, those that begin with the first word first. */
export function findCommands(commands: readonly Command[], text: string): Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const [first] = words;
  if (first === undefined) return [...commands];
  const rank = ({ label }: Command) => {
    const lower = label.toLowerCase();
    if (lower.startsWith(first)) return 0;
    return lower.split(/[\s/:_.-]+/).some((word) => word.startsWith(first)) ? 1 : 2;
  };
  return commands
    .filter(({ label, kind }) => words.every((word) => `${label} ${kind}`.toLowerCase().includes(word)))
    .map((command, index) => ({ command, index, rank: rank(command) }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ command }) => command);
}
