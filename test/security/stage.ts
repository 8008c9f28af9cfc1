import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A second user of this machine, made for the attacks and removed after them. */
export interface OtherUser {
  readonly name: string
  readonly uid: number
  readonly gid: number
  readonly home: string
}

/** All that a process printed, and how it ended. */
export interface Said {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Where and with what a process is started. */
export interface Surroundings {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  /** After this time the process is killed, and its code is null. */
  readonly endAfterMs?: number
}

/** The means of an attacker, and of the person who is attacked (whoever runs the script). */
export interface Stage {
  readonly user: OtherUser
  /** A folder of the person, open to nobody else, removed after the attack. */
  folder(): string
  /** A folder of the other user, removed after the attack. */
  foreignFolder(): string
  /** The built command, as the person starts it. */
  baton(args: readonly string[], surroundings?: Surroundings): Promise<Said>
  /** A program in JavaScript, as the other user starts it. */
  asOther(program: string, surroundings?: Surroundings): Promise<Said>
}

/** One thing an attacker tries. It throws when the attacker succeeds. */
export interface Attack {
  readonly name: string
  run(stage: Stage): Promise<void>
}

const BATON = fileURLToPath(new URL('../../dist/adapters/cli/main.js', import.meta.url))

/** Makes a user without a password and without a shell, whom nobody has used before. */
export const makeUser = (): OtherUser & Disposable => {
  const name = `batonpass-${randomBytes(4).toString('hex')}`
  execFileSync('useradd', ['--create-home', '--shell', '/usr/sbin/nologin', name], { stdio: 'pipe' })
  const remove = (): void => void execFileSync('userdel', ['--remove', name], { stdio: 'ignore' })
  const id = (which: string): number => Number(execFileSync('id', [which, name], { encoding: 'utf8' }))
  const home = execFileSync('getent', ['passwd', name], { encoding: 'utf8' }).split(':')[5] ?? ''
  return { name, uid: id('-u'), gid: id('-g'), home, [Symbol.dispose]: remove }
}

/** The stage of one attack. What it made is removed, and what it started is ended, when it is disposed of. */
export const setStage = (user: OtherUser): Stage & Disposable => {
  const folders: string[] = []
  const children: ChildProcess[] = []
  const folder = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'baton-attack-'))
    folders.push(made)
    return made
  }
  const start = (command: readonly string[], around: Surroundings, as: Partial<OtherUser>): Promise<Said> => {
    const [program = '', ...args] = command
    const child = spawn(program, args, {
      cwd: around.cwd ?? tmpdir(),
      env: { PATH: process.env.PATH ?? '', ...around.env },
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(as.uid !== undefined && { uid: as.uid, gid: as.gid }),
    })
    children.push(child)
    child.stdin.on('error', () => {})
    child.stdin.end(around.input ?? '')
    return ended(child, around.endAfterMs)
  }
  return {
    user,
    folder,
    foreignFolder: () => {
      const made = folder()
      chownSync(made, user.uid, user.gid)
      chmodSync(made, 0o755)
      return made
    },
    baton: (args, around = {}) => {
      const home = around.env?.HOME ?? folder()
      const surroundings = { ...around, cwd: around.cwd ?? home, env: { HOME: home, ...around.env } }
      return start([process.execPath, BATON, ...args], surroundings, {})
    },
    asOther: (program, around = {}) =>
      start([process.execPath, '--input-type=module', '--eval', program], { cwd: user.home, ...around }, user),
    [Symbol.dispose]: () => {
      for (const child of children) child.kill('SIGKILL')
      for (const made of folders) rmSync(made, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

const ended = (child: ChildProcess, endAfterMs?: number): Promise<Said> => {
  const said = { out: '', err: '' }
  child.stdout?.on('data', (chunk: Buffer) => {
    said.out += chunk.toString()
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    said.err += chunk.toString()
  })
  const timer = endAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), endAfterMs)
  return new Promise((resolve) =>
    child.once('close', (code) => {
      clearTimeout(timer)
      resolve({ code, ...said })
    }),
  )
}
