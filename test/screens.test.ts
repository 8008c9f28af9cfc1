import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SCREENS, screensIn } from '../scripts/screens.ts'

const guides = readdirSync('docs')
  .filter((name) => name.endsWith('.md'))
  .map((name) => readFileSync(join('docs', name), 'utf8'))

describe('the screens of the guides', () => {
  it('are those that the script captures, each of them once', () => {
    expect(guides.flatMap(screensIn).sort()).toEqual([...SCREENS].sort())
    expect(new Set(SCREENS).size).toBe(SCREENS.length)
  })

  it('are there, and name no machine', () => {
    const blocks = guides.flatMap((text) => [
      ...text.matchAll(/<!-- generated: screen [\w-]+ -->\n```\w+\n([\s\S]*?)\n```\n<!-- \/generated -->/g),
    ])
    expect(blocks).toHaveLength(SCREENS.length)
    for (const [, shown = ''] of blocks) {
      expect(shown.trim()).not.toBe('')
      expect(shown).not.toMatch(/\/tmp\/|\/work\/|\/root\b/)
    }
  })
})
