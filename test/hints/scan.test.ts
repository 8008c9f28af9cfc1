import { it } from 'vitest'
import { printedHints } from './printed-hints.ts'
it('x', () => { for (const {file, command} of printedHints()) console.log(`${file}: ${command}`) })
