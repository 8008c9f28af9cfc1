import { defined } from '../../../domain/kernel/defined.ts'
import { AlreadyServed, NotOwn, readRunning, type Service, serve } from '../../../main/serve.ts'
import { durationFlag, parsedFlag } from '../choose/flag-values.ts'
import { serviceToUse } from '../choose/store-options.ts'
import { CommandNotCompleted, UsageError } from '../invocation/command-problems.ts'
import { EXIT } from '../invocation/exit-codes.ts'
import type { Invocation, Run } from '../invocation/invocation.ts'
import { plain, toJsonLine } from '../render/text.ts'
import { lineLogger } from '../terminal/line-logger.ts'

/** Runs the service until it is interrupted, or nobody uses it. */
export const serveCommand: Run = async (invocation) => {
  const { values, out, notes, environment } = invocation
  const isByHook = values['started-by-hook'] === true
  const port = parsedFlag(invocation, 'port', portNumber)
  const idleMs = parsedFlag(invocation, 'idle-timeout', durationFlag)
  const { folder, store } = serviceToUse(invocation)
  const logger = values.verbose === true || isByHook ? lineLogger(notes) : undefined
  const signal = invocation.interruption()
  const service = await begun(() => serve(defined({ ...store, folder, port, idleMs, environment, logger })), {
    folder,
    isByHook,
    notes,
  })
  if (service === undefined) return
  const { socket = null, port: listensOn = null, pid } = service
  notes.line(`Listening on ${placesOf(socket, listensOn)} (pid ${pid}). Ctrl-C ends it.`)
  if (values.json === true) out.line(toJsonLine({ socket, port: listensOn, pid }))
  const stop = (): void => void service.stop()
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  await service.ended
  notes.line('The service has ended.')
}

interface Beginning extends Pick<Invocation, 'notes'> {
  readonly folder: string
  readonly isByHook: boolean
}

/** The service, or nothing when there is one already and a hook asked. */
const begun = async (
  begin: () => Promise<Service>,
  { folder, isByHook, notes }: Beginning,
): Promise<Service | undefined> => {
  try {
    return await begin()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE')
      throw new UsageError('That port is taken. Name another one, or leave --port out.', { cause: error })
    if (error instanceof NotOwn) throw new CommandNotCompleted(notOurs(error), EXIT.refused)
    if (!(error instanceof AlreadyServed)) throw error
    const running = await readRunning(folder)
    const where =
      running === undefined
        ? 'that is just starting'
        : `with pid ${running.pid} on ${placesOf(running.socket, running.address?.port ?? null)}`
    const problem = `A service ${where} already serves ${folder}. Use that one, or end it first.`
    if (!isByHook) throw new CommandNotCompleted(problem, EXIT.refused)
    notes.line(problem)
    return undefined
  }
}

/** The socket and the port of a service, for a person. */
const placesOf = (socket: string | null, port: number | null): string =>
  [...(socket === null ? [] : [plain(socket)]), ...(port === null ? [] : [`http://127.0.0.1:${port}`])].join(' and ')

const notOurs = ({ message }: Error): string =>
  `${plain(message)} Name a folder of your own with --data-dir, or close this one to others: chmod 700.`

const portNumber = (text: string): number => {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new TypeError('it must be a number from 0 to 65535.')
  return port
}
