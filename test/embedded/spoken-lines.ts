import { createInterface } from 'node:readline'

/** The lines a child process is told, one at a time. It says that it has loaded when it begins to listen. */
export async function* spokenLines(): AsyncGenerator<string> {
  console.log('loaded')
  yield* createInterface({ input: process.stdin })
}
