import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** Phrases that readers had to read twice, and the words to use instead. */
const RIDDLES: readonly (readonly [RegExp, string])[] = [
  [/\bg(?:o|oes|one|oing) on with\b/i, 'resume, or continue'],
  [/\bcall(?:ed|s|ing)? (?:it |them |the run |a handoff )?off\b/i, 'cancel'],
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

/** A name of a class in a sentence and not in code: mostly the trace of a rename that also changed words. */
const strayNames = (path: string, text: string, names: readonly string[]): readonly string[] => {
  const sentences = text.replaceAll(/```[\s\S]*?```|`[^`]*`|\]\([^)]*\)/g, ' ')
  return names.filter((name) => new RegExp(`\\b${name}\\b`).test(sentences)).map((name) => `${path}: ${name}`)
}

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

  it('are no names of classes, unless they stand in code', () => {
    const classes = sources.flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/^export class ([A-Z][a-z]+[A-Z]\w*)/gm)].map(([, name = '']) => name),
    )
    expect(classes.length).toBeGreaterThan(20)
    expect(prose.flatMap((path) => strayNames(path, readFileSync(path, 'utf8'), classes))).toEqual([])
    expect(strayNames('a.md', 'TurnRecorder it ends. `TurnRecorder` ends.', ['TurnRecorder'])).toHaveLength(1)
    expect(strayNames('a.md', 'It ends with `TurnRecorder`.', ['TurnRecorder'])).toEqual([])
  })

  it('are the ones people search for', () => {
    expect([...sources, ...prose].flatMap((path) => riddlesIn(path, readFileSync(path, 'utf8')))).toEqual([])
    expect(riddlesIn('a.md', 'It is gone on with.\nIt was called off.')).toHaveLength(2)
  })
})
