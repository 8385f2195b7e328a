import "katex/dist/katex.min.css";
import katex from "katex";
import { useLayoutEffect, useRef } from "react";

interface FormulaProps {
  formula: string;
  isDisplay: boolean;
}

/** Formulas come from a model: no link, no image, no macro that never ends. */
const OPTIONS = {
  trust: false,
  maxExpand: 500,
  maxSize: 20,
  strict: "ignore",
  throwOnError: false,
  errorColor: "var(--mantine-color-error)",
} as const;

/** A formula, as nodes rather than HTML, whose `style` attributes the content security policy would refuse. */
export function Formula({ formula, isDisplay }: FormulaProps) {
  const ref = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (ref.current !== null) katex.render(formula, ref.current, { ...OPTIONS, displayMode: isDisplay });
  }, [formula, isDisplay]);
  return <span ref={ref} />;
}
