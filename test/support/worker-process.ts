import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { program } from './bundle.ts'
import type { Jobs, WorkerOptions } from './worker-service.ts'

const FILE = fileURLToPath(new URL('./worker-service.ts', import.meta.url))

/** A service in a process of its own. */
export interface WorkerProcess extends AsyncDisposable {
  /** @throws when the process ends before it has answered, with what it wrote last */
  carryOut<J extends keyof Jobs>(job: J, asks: Jobs[J]['asks']): Promise<Jobs[J]['gives']>
}

/** Starts a process with a service in it, and waits until it is there. */
export const startWorker = async (options: WorkerOptions): Promise<WorkerProcess> => {
  const child = fork(await program(FILE), {
    execArgv: [],
    env: { ...process.env, WORKER_OPTIONS: JSON.stringify(options) },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let log = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-4_000)
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const answer = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      child.once('message', (message: { readonly gives: unknown }) => resolve(message.gives))
      void ended.then((code) => reject(new Error(`The worker ended with ${code}: ${log}`)))
    })
  await answer()
  return {
    carryOut: async (job, asks) => {
      const answered = answer()
      child.send({ job, asks })
      return (await answered) as Jobs[typeof job]['gives']
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}
