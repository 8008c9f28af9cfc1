import { createInterface } from 'node:readline'

/** Asks the person at this terminal. The question goes to standard error: results are never mixed with it. */
export const askPerson = (question: string): Promise<string | undefined> =>
  new Promise((resolve) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr })
    lines.once('close', () => resolve(undefined))
    lines.question(question, (answer) => {
      resolve(answer)
      lines.close()
    })
  })
