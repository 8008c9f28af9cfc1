import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { database } from '../cli/spawned.ts'
import type { Said } from '../cli/terminal.ts'
import { FOLLOWED, NOT_FOLLOWED } from './followed.ts'
import { type Person, person } from './person.ts'
import { commandsIn, isFilledIn, printedHints } from './printed-hints.ts'

const HINTS = printedHints()

/** The commands that were printed, whole, as a person would copy them. */
const copied = ({ out, err }: Said, beginning: string): string => {
  const found = `${out}\n${err}`.split('\n').flatMap(commandsIn)
  const [hint] = found.filter((command) => command.startsWith(beginning))
  expect(hint, `${beginning} in:\n${out}\n${err}`).toBeDefined()
  return hint ?? ''
}

const ok = (said: Said): Said => {
  expect(said, said.err).toMatchObject({ code: 0 })
  return said
}

describe('every command that the program prints', () => {
  it('is followed here, or is known not to be', () => {
    expect(HINTS.length).toBeGreaterThan(40)
    const filledIn = HINTS.filter(({ command }) => isFilledIn(command)).map(({ command }) => command)
    const known = [...Object.keys(FOLLOWED), ...Object.keys(NOT_FOLLOWED)]
    expect(filledIn.filter((command) => !known.includes(command))).toEqual([])
    expect(known.filter((command) => !HINTS.some((hint) => hint.command === command))).toEqual([])
  })

  it('is found where it is printed in any way that is used', () => {
    expect(commandsIn('Run "baton migrate up --schema x", or wait.')).toEqual(['baton migrate up --schema x'])
    expect(commandsIn('There are more: baton handoffs list --open')).toEqual(['baton handoffs list --open'])
    expect(commandsIn('Use it (`baton thread cleanup`). The baton is held.')).toEqual(['baton thread cleanup'])
  })
})

describe('a command that is printed as it stands', () => {
  const literal = [...new Set(HINTS.map(({ command }) => command))].filter(
    (command) => !isFilledIn(command) && !(command in NOT_FOLLOWED) && !(command in FOLLOWED),
  )
  let ann: Person
  let server: string
  beforeAll(async () => {
    ann = person()
    server = await database()
    ok(await ann.types(`baton run --runtime claude --database '${server}' --conversation till 'Mend the till'`))
  })

  it.each(literal)('%s', async (command) => {
    ok(await ann.types(command, { DATABASE_URL: server, BATONPASS_DATABASE_URL: server }))
  })
})

describe('a thread handoff', () => {
  const begun = async (isEmbedded = false): Promise<{ readonly ann: Person; readonly store: string }> => {
    const ann = person()
    const store = isEmbedded ? `--data-dir '${ann.store}'` : `--database '${await database()}'`
    ok(await ann.types(`baton run --runtime claude ${store} --conversation till 'Mend the till'`))
    return { ann, store }
  }

  it('prints how to begin the thread: its agent reads the summary that was approved, which is taken out then', async () => {
    const { ann, store } = await begun(true)
    const opened = ok(await ann.types(`baton thread handoff --apply --key till ${store} --to-key "till's second"`))
    const hint = copied(opened, 'baton run')
    expect(ann.memory()).toContain('Mend the till')
    const run = ok(await ann.types(hint))
    expect(run.out).toContain('Answer 1.')
    expect(ann.claudeSaw()).toContain('For the thread "till\'s second" only')
    expect(ann.memory()).not.toContain('Mend the till')
    expect(existsSync(join(ann.folder, '.batonpass'))).toBe(false)
  })

  it('in another store leaves the summary as it is, and prints how to take it out', async () => {
    const { ann, store } = await begun()
    ok(await ann.types(`baton thread handoff --apply --key till ${store} --to-key second`))
    const memory = ann.memory()
    const other = `--database '${await database()}'`
    const refused = await ann.types(`baton run --runtime claude ${other} --conversation second 'Go'`)
    expect(refused).toMatchObject({ code: 3, err: expect.stringContaining('(thread.other_store)') })
    expect(ann.memory()).toBe(memory)
    ok(await ann.types(copied(refused, 'baton thread cleanup')))
    expect(ann.memory()).not.toContain('Mend the till')
  })

  it('that finds another one waiting prints how to take that out', async () => {
    const { ann, store } = await begun()
    ok(await ann.types(`baton thread handoff --apply --key till ${store} --to-key second`))
    const refused = await ann.types(`baton thread handoff --apply --key till ${store} --to-key third`)
    expect(refused).toMatchObject({ code: 3, err: expect.stringContaining('(memory_block.held)') })
    ok(await ann.types(copied(refused, 'baton thread cleanup')))
    expect(ann.memory()).not.toContain('Mend the till')
  })

  it('is applied with the words that were shown, by the command that is printed below them', async () => {
    const { ann, store } = await begun()
    writeFileSync(join(ann.folder, 'mine.md'), 'Only "this" matters.')
    const shown = ok(await ann.types(`baton thread handoff --preview ${store} --summary mine.md --to-key second`))
    expect(ann.memory()).toBe('')
    ok(await ann.types(copied(shown, 'baton thread handoff --apply')))
    expect(ann.memory()).toContain('For the thread "second" only')
    expect(ann.memory()).toContain('Only "this" matters.')
    expect(ann.memory()).not.toContain('Mend the till')
  })

  it('that has more turns by now is refused, and prints both ways on', async () => {
    const { ann, store } = await begun()
    writeFileSync(join(ann.folder, 'mine.md'), 'Only this matters.')
    const shown = ok(await ann.types(`baton thread handoff --preview ${store} --summary mine.md`))
    ok(await ann.types(`baton run --runtime claude ${store} --conversation till 'And the drawer'`))
    const refused = await ann.types(copied(shown, 'baton thread handoff --apply'))
    expect(refused).toMatchObject({ code: 3, err: expect.stringContaining('more turns') })
    expect(ann.memory()).toBe('')
    ok(await ann.types(copied(refused, 'baton thread handoff --apply --as-shown')))
    expect(ann.memory()).toContain('Only this matters.')
    expect(ok(await ann.types(copied(refused, 'baton thread handoff --preview'))).out).toContain('And the drawer')
  })
})

describe('a store on a server', () => {
  it('that lacks changes prints how to make them, in its schema', async () => {
    const ann = person()
    const server = `--database '${await database()}' --schema "ann's"`
    const pending = await ann.types(`baton migrate status ${server}`)
    expect(pending.code).toBe(8)
    const doctor = await ann.types(`baton doctor ${server}`)
    ok(await ann.types(copied(doctor, 'baton migrate up')))
    ok(await ann.types(`baton migrate status ${server}`))
    expect(ok(await ann.types(copied(pending, 'baton migrate up'))).out).toContain('is up to date')
  })

  it('whose address has a password is named by a variable', async () => {
    const ann = person()
    const address = new URL(await database())
    address.password ||= 'hunter2'
    const pending = await ann.types(`baton migrate status --database '${address.href}' --schema other`)
    expect(pending.code).toBe(8)
    expect(pending.out + pending.err).not.toContain(address.password)
    const hint = copied(pending, 'baton migrate up')
    expect((await ann.types(hint)).code).toBe(2)
    ok(await ann.types(hint, { BATONPASS_DATABASE_URL: address.href }))
  })
})

describe('a run', () => {
  it('that failed prints the flag with which the same command resumes it', async () => {
    const ann = person()
    const store = `--database '${await database()}'`
    const run = `baton run --command false ${store} --conversation "ann's job" 'Mend it'`
    const failed = await ann.types(run)
    expect(failed.code).toBe(1)
    const [, flag = ''] = /run the same command with (--conversation .+)/.exec(failed.err) ?? []
    const again = `baton run --runtime claude ${store} ${flag} 'Mend it'`
    expect(ok(await ann.types(again)).out).toContain('Answer 1.')
    const listed = ok(await ann.types(`baton conversations list --json ${store}`))
    expect(JSON.parse(listed.out).items).toMatchObject([{ externalKey: "ann's job" }])
  })

  it('without a prompt prints how to give one', async () => {
    const ann = person()
    const hint = copied(await ann.types('baton run'), 'baton run PROMPT').replace('PROMPT', "'Mend it'")
    ok(await ann.types(`${hint} --runtime claude --database '${await database()}'`))
  })
})

it('a list prints the whole command that shows its next page', async () => {
  const ann = person()
  const store = `--database '${await database()}'`
  for (const key of ['one', 'two']) ok(await ann.types(`baton run --runtime claude ${store} --conversation ${key} Go`))
  const first = ok(await ann.types(`baton conversations list --limit 1 ${store}`))
  const second = ok(await ann.types(copied(first, 'baton conversations list')))
  expect(second.out).not.toContain('Continue with')
  expect(second.out).not.toBe(first.out)
})

it('a configuration with many problems prints how to see all of them', async () => {
  const ann = person()
  const keys = Array.from({ length: 8 }, (_, at) => `wrong_${at}: 1`)
  writeFileSync(join(ann.folder, 'batonpass.yaml'), keys.join('\n'))
  const checked = await ann.types(copied(await ann.types('baton doctor'), 'baton config check'))
  expect(checked.code).toBe(3)
  for (const at of keys.keys()) expect(checked.out + checked.err).toContain(`wrong_${at}`)
})
