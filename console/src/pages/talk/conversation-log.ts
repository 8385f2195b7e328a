/** What was said in a conversation, read from the events of the Realtime API. */

export interface TalkTurn {
  id: string;
  speaker: "user" | "assistant";
  text: string;
  isComplete: boolean;
  /** The user went on speaking before its end was heard. */
  isInterrupted: boolean;
  /** How long each stage of an answer took. */
  stages: Stages;
}

/** Milliseconds from the end of the user's speech to its text, from there to the answer's first words and to its first sound. */
export interface Stages {
  hearMs?: number;
  thinkMs?: number;
  speakMs?: number;
}

/** Events that are read here; others have no such fields. */
export interface TalkEvent {
  type: string;
  item_id?: string;
  delta?: string;
  transcript?: string;
  error?: { message?: string };
  response?: { status?: string; status_details?: { error?: { message?: string } } | null };
}

export class ConversationLog {
  #turns: readonly TalkTurn[] = [];
  /** End of the last stage, in milliseconds; undefined before the user has spoken. */
  #stageEndedAt: number | undefined;
  #stages: Stages = {};

  get turns(): readonly TalkTurn[] {
    return this.#turns;
  }

  /** Reads an event that arrived at `now`, in milliseconds. */
  read({ type, item_id: id = "", delta = "", transcript }: TalkEvent, now: number): void {
    switch (type) {
      case "input_audio_buffer.speech_stopped":
        this.#stageEndedAt = now;
        this.#stages = {};
        break;
      case "input_audio_buffer.committed":
        this.#change(id, "user", {});
        break;
      case "conversation.item.input_audio_transcription.delta":
        this.#change(id, "user", { text: this.#textOf(id) + delta });
        break;
      case "conversation.item.input_audio_transcription.completed":
        this.#endStage("hearMs", now);
        if ((transcript ?? "").trim() === "") this.#turns = this.#turns.filter((turn) => turn.id !== id);
        else this.#change(id, "user", { text: transcript ?? "", isComplete: true });
        break;
      case "conversation.item.input_audio_transcription.failed":
        this.#turns = this.#turns.filter((turn) => turn.id !== id);
        break;
      case "response.output_audio_transcript.delta":
        this.#endStage("thinkMs", now);
        this.#change(id, "assistant", { text: this.#textOf(id) + delta, stages: this.#stages });
        break;
      case "response.output_audio.delta":
        this.#endStage("speakMs", now);
        this.#change(id, "assistant", { stages: this.#stages });
        break;
      case "response.output_audio_transcript.done":
        this.#change(id, "assistant", { text: transcript ?? this.#textOf(id), isComplete: true });
        break;
    }
  }

  interrupt(id: string): void {
    if (this.#turns.some((turn) => turn.id === id)) this.#change(id, "assistant", { isInterrupted: true });
  }

  /** Records the time of a stage once in an answer. */
  #endStage(stage: keyof Stages, now: number): void {
    if (this.#stageEndedAt === undefined || this.#stages[stage] !== undefined) return;
    this.#stages = { ...this.#stages, [stage]: now - this.#stageEndedAt };
    this.#stageEndedAt = now;
  }

  #textOf(id: string): string {
    return this.#turns.find((turn) => turn.id === id)?.text ?? "";
  }

  #change(id: string, speaker: TalkTurn["speaker"], part: Partial<TalkTurn>): void {
    const begun = { id, speaker, text: "", isComplete: false, isInterrupted: false, stages: {} };
    const turns = this.#turns.some((turn) => turn.id === id) ? this.#turns : [...this.#turns, begun];
    this.#turns = turns.map((turn) => (turn.id === id ? { ...turn, ...part } : turn));
  }
}
