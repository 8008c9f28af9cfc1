/** Nothing here is timed, for a busy machine takes its time. Whatever hangs is ended, so that it is known which test it was. */
export const PATIENT = { timeout: 1_200_000 } as const

/** Never answers. Whoever asked is to have gone before: then it ends. */
export const never = (gone: AbortSignal): Promise<never> =>
  new Promise((_, reject) => gone.addEventListener('abort', () => reject(gone.reason), { once: true }))
