import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The variables that a test and the processes it starts are given. Everything else stays outside. */
export const KEPT: Readonly<Record<string, string>> = {
  PATH: 'finds node, git, sh and the other programs',
  TMPDIR: 'says where this machine wants temporary files',
  'TEST_*': 'names the databases of this test run',
  'VITEST*': 'is how vitest knows its own processes',
  NODE_TEST_CONTEXT: "is how Node's test runner knows its own processes",
  DOOR_FUZZ: 'how many lines are tried at the door of an embedded store',
  FULL: 'tries everything, as the nightly run does',
  FAULT_ROUNDS: 'how many rounds of claimants',
  FUZZ: 'how many wrong requests',
  FUZZ_STORE: 'the store behind the wrong requests',
  GRID: 'which cells of the kill grid are played',
  KILLS: 'how many writers of an embedded store are killed',
  KILL_SEEDS: 'how many runs of the runner are killed',
  MEMORY_FILE_GAP_WRITES: 'how many writes beside a careless editor',
  MEMORY_FILE_KILLS: 'how many writers of a memory file are killed',
  MEMORY_FILE_WRITES: 'how many concurrent writes of a memory file',
  REPLACED: 'every order in which a folder is replaced under its process',
  RUNS: 'how many random runs',
  SEED: 'which random runs',
  SHARERS: 'how many processes share an embedded store',
  SHARE_EVERY_MS: 'how often the one that has it is killed',
  SHARE_KILLS: 'how many of them are killed',
  SHARE_SECONDS: 'how long they share it',
  CAPTURE: 'where the status line that the agent draws is kept',
  SHOW_SCREEN: 'prints the screen of the agent in its terminal',
}

/** The variables that differ from what the person has. The folders are in the room. */
const given = (room: string) => ({
  HOME: join(room, 'home'),
  XDG_RUNTIME_DIR: join(room, 'run'),
  GIT_CONFIG_NOSYSTEM: '1',
})

const isKept = (name: string): boolean =>
  Object.keys(KEPT).some((kept) => (kept.endsWith('*') ? name.startsWith(kept.slice(0, -1)) : name === kept))

/** What of an environment a test is given. */
export const cleanEnvironment = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => isKept(name)))

/** The clone that these tests belong to. */
export const CLONE = fileURLToPath(new URL('../../', import.meta.url))

/** Not for a test: what somebody's commands have left in the clone, and the repository that the clone is. */
const LEFT_OUT = new Set(['.git', '.batonpass', 'batonpass-demo', 'reports', 'coverage'])

/**
 * Takes this process into a room of its own, which the processes it starts inherit: a working folder and a home that
 * nobody has used, and a clean environment. So no store, service, hook, setting or variable of the person who runs the
 * tests is met or changed. The files of the clone are linked into the working folder, because tests read them by name.
 *
 * @returns the room, for whoever leaves it before the process ends
 */
export const enterCleanRoom = (): string => {
  const room = mkdtempSync(join(tmpdir(), 'baton-room-'))
  const leave = () => leaveCleanRoom(room)
  leaving.set(room, leave)
  process.once('exit', leave)
  const work = join(room, 'work')
  for (const folder of ['home', 'run', 'work']) mkdirSync(join(room, folder), { mode: 0o700 })
  for (const name of readdirSync(CLONE)) if (!LEFT_OUT.has(name)) symlinkSync(join(CLONE, name), join(work, name))
  for (const name of Object.keys(process.env)) if (!isKept(name)) delete process.env[name]
  Object.assign(process.env, given(room))
  process.chdir(work)
  return room
}

/** What ends each room with its process. */
const leaving = new Map<string, () => void>()

/** Goes back to the clone and removes the room. */
export const leaveCleanRoom = (room: string): void => {
  process.off('exit', leaving.get(room) ?? (() => undefined))
  leaving.delete(room)
  process.chdir(CLONE)
  rmSync(room, { recursive: true, force: true, maxRetries: 10 })
}
