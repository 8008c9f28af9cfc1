import { appendFileSync } from 'node:fs'
import type { LoadHook } from 'node:module'

/** Writes the address of a module to the file that `NOTE_MODULES` names, and loads it as ever. */
export const load: LoadHook = async (url, context, next) => {
  if (!url.startsWith('node:')) appendFileSync(process.env.NOTE_MODULES ?? '', `${url}\n`)
  return next(url, context)
}
