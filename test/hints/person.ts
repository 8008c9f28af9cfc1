import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import type { Said } from '../cli/terminal.ts'
import { program } from '../support/bundle.ts'

const BATON = await program(fileURLToPath(new URL('../../src/adapters/cli/main.ts', import.meta.url)))
const CLAUDE = fileURLToPath(new URL('./claude.mjs', import.meta.url))

/** A person at a shell, with `baton` and `claude` in the PATH, in a folder whose name needs quoting. */
export interface Person {
  readonly home: string
  readonly folder: string
  /** A folder for a store, which no rule would choose. */
  readonly store: string
  /** Types a line, as it stands. */
  readonly types: (line: string, environment?: Readonly<Record<string, string>>) => Promise<Said>
  /** The memory file. */
  readonly memory: () => string
  /** The memory files that `claude` has read when it was started. */
  readonly claudeSaw: () => string
}

/** A person whose home is empty. */
export const person = (): Person => {
  const room = realpathSync(mkdtempSync(join(tmpdir(), 'batonpass-hints-')))
  afterAll(() => rmSync(room, { recursive: true, force: true, maxRetries: 10 }))
  const [home, folder, bin] = [join(room, 'home'), join(room, "Ann's shop"), join(room, 'bin')]
  for (const made of [home, folder, bin]) mkdirSync(made, { mode: 0o700 })
  for (const [name, file] of [
    ['baton', BATON],
    ['claude', CLAUDE],
  ] as const) {
    writeFileSync(join(bin, name), `#!/bin/sh\nexec '${process.execPath}' '${file}' "$@"\n`)
    chmodSync(join(bin, name), 0o755)
  }
  const saw = join(room, 'saw')
  const own = { HOME: home, PATH: `${bin}:${process.env.PATH}`, CLAUDE_SAW: saw }
  const types: Person['types'] = (line, environment = {}) =>
    new Promise((resolve) => {
      const env = { ...process.env, ...own, ...environment }
      const child = spawn('sh', ['-c', line], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
      const said = { out: '', err: '' }
      for (const [name, stream] of [
        ['out', child.stdout],
        ['err', child.stderr],
      ] as const)
        stream.on('data', (chunk: Buffer) => {
          said[name] += chunk.toString()
        })
      child.once('close', (code) => resolve({ code: code ?? -1, ...said }))
    })
  const textOf = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '')
  return {
    ...{ home, folder, types, store: join(room, 'a store') },
    memory: () => textOf(join(folder, 'CLAUDE.md')),
    claudeSaw: () => textOf(saw),
  }
}
