/** One line of a terminal that shows that something is under way. */

import { styleText } from "node:util";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;
const START_MS = 300;
const ERASE_LINE = "\r\u001b[2K";

export interface Spinner extends Disposable {
  /** Changes the text. */
  show(text: string): void;
  /** Erases the line; safe to call again. */
  stop(): void;
}

/** Starts after 0.3 s, so that a fast answer does not flicker. Writes nothing where `output` is not a terminal. */
export function startSpinner(output: NodeJS.WriteStream, text: string): Spinner {
  const startedAt = performance.now();
  let shown = text;
  let frame = 0;
  let isVisible = false;
  const draw = () => {
    const ms = performance.now() - startedAt;
    if (ms < START_MS) return;
    isVisible = true;
    frame += 1;
    const line = `${FRAMES[frame % FRAMES.length]} ${shown} ${Math.floor(ms / 1000)} s`;
    output.write(`${ERASE_LINE}${styleText("dim", line, { stream: output })}`);
  };
  const timer = output.isTTY ? setInterval(draw, FRAME_MS) : undefined;
  const stop = () => {
    clearInterval(timer);
    if (isVisible) output.write(ERASE_LINE);
    isVisible = false;
  };
  return {
    show: (changed) => {
      shown = changed;
    },
    stop,
    [Symbol.dispose]: stop,
  };
}
