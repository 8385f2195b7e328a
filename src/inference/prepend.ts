/** Yields `first`, which was taken from `rest`, then `rest`. Ends `rest` when it is ended itself. */
export async function* prepend<Event>(first: Event, rest: AsyncIterator<Event>): AsyncGenerator<Event> {
  try {
    yield first;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
