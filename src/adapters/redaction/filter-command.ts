import { spawnSync } from 'node:child_process'

/** A program may say more than it was given, and not without end. */
const MOST_BYTES = 64 * 1024 * 1024

/**
 * A text as a person's own program lets it through: it reads the text from its standard input and writes it without its
 * secrets. It is waited for, because nothing may be stored before. What it says on standard error is nobody's business.
 *
 * @throws where it fails, or takes too long
 */
export const filtered = (text: string, command: string | readonly string[], timeoutMs: number): string => {
  const [program = '', ...words] = typeof command === 'string' ? [command] : command
  const { status, signal, error, stdout } = spawnSync(program, words, {
    input: text,
    encoding: 'utf8',
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: MOST_BYTES,
    shell: typeof command === 'string',
    stdio: ['pipe', 'pipe', 'ignore'],
    windowsHide: true,
  })
  const { code } = (error ?? {}) as NodeJS.ErrnoException
  if (code === 'ETIMEDOUT') throw new Error(`the command took longer than ${timeoutMs} ms`)
  if (error !== undefined) throw new Error(`the command could not be run (${code ?? 'unknown'})`)
  if (status !== 0) throw new Error(`the command ended with ${status ?? signal}`)
  if (stdout.trim() === '' && text.trim() !== '') throw new Error('the command wrote nothing')
  // Many programs end their last line whether or not it was ended.
  return stdout.endsWith('\n') && !text.endsWith('\n') ? stdout.slice(0, -1) : stdout
}
