/** Retries `assertion` until it passes; rethrows its error after `seconds`. */
export async function eventually(assertion: () => void | Promise<void>, seconds = 200): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    try {
      await assertion();
      return;
    } catch (failure) {
      if (performance.now() > deadline) throw failure;
    }
    await new Promise((resume) => setTimeout(resume, 25));
  }
}
