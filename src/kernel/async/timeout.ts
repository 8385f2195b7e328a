export class TimeoutError extends Error {
  override readonly name = "TimeoutError";
}

/** Rejects with a TimeoutError when `work` takes longer. The work itself goes on. */
export async function withTimeout<Result>(work: Promise<Result>, milliseconds: number): Promise<Result> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new TimeoutError(`no answer within ${milliseconds} ms`)), milliseconds);
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}

/** The result of `work`, or undefined once the time is over. Does not keep the process running for it. */
export async function resultWithin<Result>(work: Promise<Result>, milliseconds: number): Promise<Result | undefined> {
  const { promise: expired, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), milliseconds).unref();
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}
