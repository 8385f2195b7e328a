import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

export interface Player {
  audio: RefObject<HTMLAudioElement | null>;
  seconds: number;
  duration: number;
  isPlaying: boolean;
  rate: number;
  toggle: () => void;
  /** Moves to a time; `plays` also starts there. */
  seek: (seconds: number, plays?: boolean) => void;
  setRate: (rate: number) => void;
}

/** Plays `url`, and reports the position with every frame, since `timeupdate` comes four times a second only. */
export function usePlayer(url: string | undefined): Player {
  const audio = useRef<HTMLAudioElement>(null);
  const [seconds, setSeconds] = useState(0);
  const [duration, setDuration] = useState(0);
  const [isPlaying, setIsPlaying] = useState(false);
  const [rate, setRate] = useState(1);
  useEffect(() => {
    const element = audio.current;
    setSeconds(0);
    setDuration(0);
    setIsPlaying(false);
    if (element === null || url === undefined) return;
    const events = new AbortController();
    const on = (type: string, listener: () => void) => element.addEventListener(type, listener, events);
    let frame = 0;
    const follow = () => {
      setSeconds(element.currentTime);
      if (!element.paused) frame = requestAnimationFrame(follow);
    };
    on("play", () => {
      setIsPlaying(true);
      frame = requestAnimationFrame(follow);
    });
    on("pause", () => setIsPlaying(false));
    on("seeked", () => setSeconds(element.currentTime));
    // Recordings of the browser have no length until they were played.
    on("durationchange", () => setDuration(Number.isFinite(element.duration) ? element.duration : 0));
    return () => {
      events.abort();
      cancelAnimationFrame(frame);
    };
  }, [url]);
  useEffect(() => {
    if (audio.current !== null) audio.current.playbackRate = rate;
  }, [rate]);
  const toggle = useCallback(() => {
    const element = audio.current;
    if (element?.paused === true) play(element);
    else element?.pause();
  }, []);
  const seek = useCallback((to: number, plays = false) => {
    const element = audio.current;
    if (element === null) return;
    element.currentTime = to;
    setSeconds(to);
    if (plays) play(element);
  }, []);
  return { audio, seconds, duration, isPlaying, rate, toggle, seek, setRate };
}

function play(element: HTMLAudioElement): void {
  // A pause before the recording is loaded rejects it.
  element.play().catch(() => {});
}
