import { PINE } from "../colors.ts";

export function Logo({ size = 26 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill={PINE[7]} />
      <path
        d="M9 9.5A2.5 2.5 0 0 1 11.5 7h9A2.5 2.5 0 0 1 23 9.5v7a2.5 2.5 0 0 1-2.5 2.5H15l-4.2 4.6c-.6.7-1.8.2-1.8-.7z"
        fill="#fff"
      />
      <path d="M12.5 13h7" stroke={PINE[7]} strokeWidth="2" strokeLinecap="round" />
    </svg>
  );
}
