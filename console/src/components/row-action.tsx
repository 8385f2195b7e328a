interface RowActionProps {
  onClick: () => void;
  isDestructive?: boolean;
  disabled?: boolean;
  children: string;
}

/** Button of a long table's row. It is native, since drawing hundreds of Mantine's takes longer than a frame. */
export function RowAction({ onClick, isDestructive = false, disabled = false, children }: RowActionProps) {
  return (
    <button
      type="button"
      className="row-action"
      data-destructive={isDestructive || undefined}
      disabled={disabled}
      onClick={onClick}
    >
      {children}
    </button>
  );
}
