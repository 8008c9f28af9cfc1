import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** Phrases that readers had to read twice, and the words to use instead. */
const RIDDLES: readonly (readonly [RegExp, string])[] = [
  [/\bg(?:o|oes|one|oing) on with\b/i, 'resume, or continue'],
  [/\bcall(?:ed|s|ing)? (?:it |them |the run )?off\b/i, 'cancel'],
  [/\bwas left behind\b/i, 'orphaned'],
]

const filesIn = (folder: string, ending: RegExp): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => ending.test(path))
    .map((path) => join(folder, path))

const riddlesIn = (path: string, text: string): readonly string[] =>
  text
    .split('\n')
    .flatMap((line, index) =>
      RIDDLES.filter(([phrase]) => phrase.test(line)).map(
        ([phrase, better]) => `${path}:${index + 1} ${phrase.source}: say ${better}`,
      ),
    )

const opensWithWhat = (path: string, text: string): readonly string[] =>
  text.split('\n').flatMap((line, index) => (/^\s*(?:\/\*\*|\*) What\b/.test(line) ? [`${path}:${index + 1}`] : []))

describe('plain words', () => {
  const sources = filesIn('src', /\.ts$/)
  const prose = [...filesIn('docs', /\.md$/), ...filesIn('features', /\.feature$/), 'README.md', 'CHANGELOG.md']

  it('open no doc comment with "What": it names its subject', () => {
    expect(sources.length).toBeGreaterThan(400)
    expect(sources.flatMap((path) => opensWithWhat(path, readFileSync(path, 'utf8')))).toEqual([])
    expect(opensWithWhat('a.ts', '/** What it takes. */\n  * What is left.\n/** Whatever. */')).toEqual([
      'a.ts:1',
      'a.ts:2',
    ])
  })

  it('are the ones people search for', () => {
    expect([...sources, ...prose].flatMap((path) => riddlesIn(path, readFileSync(path, 'utf8')))).toEqual([])
    expect(riddlesIn('a.md', 'It is gone on with.\nIt was called off.')).toHaveLength(2)
  })
})
