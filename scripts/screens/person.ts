import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { NO_WAY_OUT } from '../../test/agents/loopback-server.ts'
import type { Surroundings } from './terminal.ts'

const BATON = fileURLToPath(new URL('../../dist/adapters/cli/main.js', import.meta.url))

/** A person who has just installed the package: a home, a project in it, and `baton` on the PATH. */
export interface Person extends AsyncDisposable {
  readonly home: string
  readonly project: string
  readonly around: Surroundings
  /** Lines as they would be in `/home/me` of any machine, not longer than the terminal is wide. */
  readonly normalised: (rows: readonly string[]) => readonly string[]
}

/** Makes such a person. */
export const newPerson = (): Person => {
  const home = mkdtempSync(join(tmpdir(), 'screens-'))
  const [project, bin] = [join(home, 'shop'), join(home, 'bin')]
  for (const folder of [project, bin]) mkdirSync(folder)
  symlinkSync(BATON, join(bin, 'baton'))
  const environment = {
    PATH: [bin, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
    HOME: home,
    BATONPASS_HOOK_BUDGET_MS: '60000',
    ...NO_WAY_OUT,
  }
  return {
    home,
    project,
    around: { folder: project, environment },
    normalised: (rows) => normalised(rows, home),
    [Symbol.asyncDispose]: async () => {
      await endService(home)
      rmSync(home, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

/** The settings of somebody who works with Claude Code already. */
export const withOwnSettings = ({ home }: Person): void => {
  const statusLine = { type: 'command', command: 'echo shop on main' }
  mkdirSync(join(home, '.claude'))
  writeFileSync(
    join(home, '.claude', 'settings.json'),
    `${JSON.stringify({ model: 'claude-sonnet-4-5', statusLine }, null, 2)}\n`,
  )
}

/** Hooks start a service, which would end by itself after a while; its home does not stay that long. */
const endService = async (home: string): Promise<void> => {
  const folder = join(home, '.batonpass')
  if (!existsSync(join(folder, 'service.start'))) return
  // One that is still starting cannot be asked yet, and would write into a folder that is gone.
  const file = join(folder, 'service.json')
  for (const end = Date.now() + START_MS; !existsSync(file) && Date.now() < end; ) await pause(EVERY_MS)
  if (!existsSync(file)) return
  const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { readonly pid?: number }
  try {
    if (pid !== undefined) process.kill(pid, 'SIGTERM')
    while (pid !== undefined && process.kill(pid, 0)) await pause(EVERY_MS)
  } catch {
    // It has ended.
  }
}

const START_MS = 60_000
const EVERY_MS = 100

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

const normalised = (rows: readonly string[], home: string): readonly string[] => {
  const ids = new Map<string, string>()
  const idFor = (id: string): string => {
    const known = ids.get(id) ?? `0199a000-0000-7000-8000-${String(ids.size + 1).padStart(12, '0')}`
    ids.set(id, known)
    return known
  }
  return rows.map((row) =>
    row
      .replaceAll(home, '/home/me')
      .replaceAll(BATON, '/usr/lib/node_modules/batonpass/dist/adapters/cli/main.js')
      .replaceAll(process.execPath, '/usr/bin/node')
      .replaceAll(UUID, idFor)
      .replace(/process \d+/, 'process 4711'),
  )
}
