import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import {
  type ClaudeScope,
  type Installation,
  install,
  type Part,
  uninstall,
  wantedBy,
} from '../../src/main/installer.ts'

/** A home and a project of somebody, and what is done in them. */
export interface Stage {
  readonly home: string
  readonly project: string
  readonly settings: string
  readonly change: (more?: Partial<Changes>) => Installation
}

/** How an installation differs from the usual one. */
export interface Changes {
  readonly scope: ClaudeScope
  readonly command: string
  readonly without: readonly Part[]
  readonly isCodex: boolean
  readonly isDryRun: boolean
  readonly environment: Readonly<Record<string, string>>
}

/** The parts beside the settings file itself. */
export const ONLY_SETTINGS: readonly Part[] = ['mcp', 'command']

export const stage = (): Stage => {
  const home = mkdtempSync(join(tmpdir(), 'batonpass-install-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }))
  return stageIn(home)
}

export const stageIn = (home: string): Stage => {
  const project = join(home, 'project')
  mkdirSync(project, { recursive: true })
  const change: Stage['change'] = (more = {}) => {
    const { scope = 'user', command = 'baton', without = [], isCodex = false, isDryRun = false } = more
    const environment = { HOME: home, PATH: '', ...more.environment }
    const wanted = wantedBy({ environment, command, without })
    if (!wanted.ok) throw new Error(wanted.error)
    return {
      agent: isCodex ? { name: 'codex' } : { name: 'claude', scope },
      place: { environment, workingFolder: project },
      wanted: wanted.value,
      folder: join(home, '.batonpass'),
      isDryRun,
    }
  }
  return { home, project, settings: join(home, '.claude', 'settings.json'), change }
}

/** Writes a file, its folder too, with exactly these bytes. */
export const put = (file: string, text: string, mode = 0o644): string => {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  chmodSync(file, mode)
  return file
}

/** The bytes of a file as text; nothing where there is none. */
export const got = (file: string): string | undefined =>
  statSync(file, { throwIfNoEntry: false }) === undefined ? undefined : readFileSync(file, 'utf8')

/** Installs, and fails the test where that is refused. */
export const installed = async (installation: Installation) => {
  const done = await install(installation)
  if (!done.ok) throw new Error(`${done.error.code}: ${done.error.message}`)
  return done.value
}

/** The same for taking it out again. */
export const uninstalled = async (installation: Installation) => {
  const done = await uninstall(installation)
  if (!done.ok) throw new Error(`${done.error.code}: ${done.error.message}`)
  return done.value
}
