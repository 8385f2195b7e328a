/** Yields the result of `make`, or nothing when it resolves with undefined. Calls `make` when the event is first requested. */
export async function* singleEvent<Event>(make: () => Promise<Event | undefined>): AsyncGenerator<Event, void> {
  const event = await make();
  if (event !== undefined) yield event;
}
