import { useEffect, useRef } from "react";
import { t } from "../../i18n/translate.ts";

const BAR_WIDTH = 4;
const GAP = 3;
const HEIGHT = 96;
const INTERVAL_MS = 50;
/** Share of the full loudness that fills the height. */
const FULL = 0.25;

interface WaveformProps {
  /** Analysers of the user and the assistant; undefined without a conversation. */
  analysers: () => [AnalyserNode, AnalyserNode] | undefined;
}

/** Loudness of both speakers over the last seconds, the user's above the line's color of the assistant. */
export function Waveform({ analysers }: WaveformProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context) return;
    const bars: { level: number; isUser: boolean }[] = [];
    const draw = () => {
      const { clientWidth } = element;
      const scale = devicePixelRatio;
      element.width = clientWidth * scale;
      element.height = HEIGHT * scale;
      context.scale(scale, scale);
      const count = Math.floor(clientWidth / (BAR_WIDTH + GAP));
      const [user, assistant] = (analysers() ?? []).map(loudness);
      const isUser = (user ?? 0) >= (assistant ?? 0);
      bars.push({ level: Math.max(user ?? 0, assistant ?? 0), isUser });
      bars.splice(0, bars.length - count);
      const style = getComputedStyle(element);
      for (const [at, { level, isUser: speaks }] of bars.entries()) {
        const height = Math.max(3, Math.min(1, level / FULL) * (HEIGHT - 8));
        context.fillStyle = style.getPropertyValue(
          level < 0.004 ? "--chart-muted" : speaks ? "--chart-1" : "--chart-2",
        );
        context.beginPath();
        const x = clientWidth - (bars.length - at) * (BAR_WIDTH + GAP);
        context.roundRect(x, (HEIGHT - height) / 2, BAR_WIDTH, height, BAR_WIDTH / 2);
        context.fill();
      }
    };
    const timer = setInterval(draw, INTERVAL_MS);
    return () => clearInterval(timer);
  }, [analysers]);
  return <canvas ref={canvas} className="waveform" role="img" aria-label={t("Loudness of both speakers")} />;
}

/** Root of the mean square of the last samples, from 0 to 1. */
function loudness(analyser: AnalyserNode): number {
  const samples = new Float32Array(analyser.fftSize);
  analyser.getFloatTimeDomainData(samples);
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}
