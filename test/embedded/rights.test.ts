import { chmodSync, chownSync, existsSync, lchownSync, lstatSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'
import { folderRights } from '../../src/adapters/postgres/health/folder-checks.ts'
import { StoreFailure } from '../../src/ports/store/store-failure.ts'
import { dump } from './made-store.ts'
import { contentsOf, temporaryFolder } from './temporary-folder.ts'

/** Everything in a folder, with its rights; of sockets and links as well. */
const rightsIn = (folder: string): readonly (readonly [path: string, mode: number])[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => [
    name,
    lstatSync(join(folder, name)).mode & 0o777,
  ])

const openToOthers = (folder: string): readonly string[] =>
  rightsIn(folder).flatMap(([path, mode]) => ((mode & 0o077) === 0 ? [] : [`${mode.toString(8)} ${path}`]))

/** Opens and closes it, and answers with the warnings. */
const opened = async (dataDir: string, whileOpen: () => void = () => {}): Promise<readonly string[]> => {
  const warnings: string[] = []
  const beginning = existsSync(join(dataDir, 'data')) ? {} : { loadDataDir: dump() }
  await using _ = await openPglite({ dataDir, ...beginning, onWarning: (message) => warnings.push(message) })
  whileOpen()
  return warnings
}

const refused = (dataDir: string): Promise<unknown> =>
  opened(dataDir).then(
    () => 'it opened',
    (error: unknown) => error,
  )

const withUmask = async <T>(mask: number, work: () => Promise<T>): Promise<T> => {
  const before = process.umask(mask)
  try {
    return await work()
  } finally {
    process.umask(before)
  }
}

describe.skipIf(process.platform === 'win32')('the files of an embedded store', () => {
  it('are the owner’s alone whatever the umask, with lock and pulse; and those of earlier versions become so', async () => {
    const folder = join(temporaryFolder(), 'store')
    await withUmask(0, async () => {
      const warnings = await opened(folder, () => {
        expect(readdirSync(folder)).toContain('lock')
        expect(openToOthers(folder)).toEqual([])
      })
      expect(warnings).toEqual([])
    })
    expect(lstatSync(join(folder, 'data')).mode & 0o777).toBe(0o700)
    // As earlier versions left them.
    chmodSync(join(folder, 'data'), 0o755)
    for (const [path] of rightsIn(join(folder, 'data'))) {
      const file = join(folder, 'data', path)
      chmodSync(file, lstatSync(file).isDirectory() ? 0o755 : 0o666)
    }
    expect(openToOthers(folder).length).toBeGreaterThan(100)
    await opened(folder)
    expect(openToOthers(folder)).toEqual([])
  })

  it('in a folder that others may look into come with a warning that says what to do', async () => {
    const folder = join(temporaryFolder(), "ada's store")
    mkdirSync(folder)
    chmodSync(folder, 0o755)
    const [warning, ...more] = await opened(folder)
    expect(more).toEqual([])
    expect(warning).toContain(`chmod 700 '${folder.replace("'", "'\\''")}'`)
    expect(warning).toContain('mode 755')
    chmodSync(folder, 0o700)
    expect(await opened(folder)).toEqual([])
  })

  it('are not used when others could have written to them', async () => {
    const folder = temporaryFolder()
    await opened(folder)
    chmodSync(folder, 0o755)
    chmodSync(join(folder, 'data'), 0o777)
    const failure = await refused(folder)
    expect(failure).toBeInstanceOf(StoreFailure)
    expect(failure).toMatchObject({
      code: 'store.failed',
      message: expect.stringContaining(`chmod 700 ${folder}/data`),
    })
    expect(contentsOf(folder)).toEqual(['data'])
    chmodSync(join(folder, 'data'), 0o700)
    expect(await opened(folder)).toHaveLength(1)
  })

  it('that others could write to, in a folder that only we can enter, are tightened', async () => {
    const folder = temporaryFolder()
    await opened(folder)
    chmodSync(join(folder, 'data'), 0o777)
    await opened(folder)
    expect(openToOthers(folder)).toEqual([])
  })

  it('that belong to another user are left alone', async () => {
    const folder = temporaryFolder()
    await opened(folder)
    const isRoot = process.getuid?.() === 0
    // Nobody but root can give files away; for the others somebody else is whoever they are not.
    const { getuid } = process
    const me = getuid?.() ?? 0
    if (isRoot) chownSync(join(folder, 'data'), 65_534, 65_534)
    else process.getuid = () => me + 1
    try {
      const failure = await refused(folder)
      expect(failure).toMatchObject({
        code: 'store.failed',
        message: expect.stringContaining('belongs to another user'),
      })
      expect(failure).toMatchObject({ message: expect.stringContaining('chown -R') })
      expect(contentsOf(folder)).toEqual(['data'])
    } finally {
      if (getuid !== undefined) process.getuid = getuid
      if (isRoot) chownSync(join(folder, 'data'), 0, 0)
    }
  })

  it('behind a link are left alone, whoever’s they are', async () => {
    const [folder, elsewhere] = [temporaryFolder(), temporaryFolder()]
    await opened(elsewhere)
    chmodSync(join(elsewhere, 'data'), 0o755)
    const before = rightsIn(elsewhere)
    symlinkSync(join(elsewhere, 'data'), join(folder, 'data'))
    expect(await refused(folder)).toMatchObject({
      code: 'store.failed',
      message: expect.stringContaining('is a link, or something else that is no folder'),
    })
    expect([rightsIn(elsewhere), contentsOf(folder)]).toEqual([before, ['data']])
    expect(await folderRights(folder)).toMatchObject([
      { result: 'problem', text: expect.stringContaining('is a link') },
    ])
  })

  it.runIf(process.getuid?.() === 0)(
    'in a folder of another user, or through a link of theirs, are left alone',
    async () => {
      const [folder, home] = [temporaryFolder(), temporaryFolder()]
      await opened(folder)
      const link = join(home, 'link')
      symlinkSync(folder, link)
      lchownSync(link, 65_534, 65_534)
      const foreign = { code: 'store.failed', message: expect.stringContaining('belongs to another user') }
      expect(await refused(link)).toMatchObject(foreign)
      chownSync(folder, 65_534, 65_534)
      expect(await refused(folder)).toMatchObject(foreign)
      expect(contentsOf(folder)).toEqual(['data'])
      chownSync(folder, 0, 0)
    },
  )
})
